/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning_file.h - CRESTA_TUNING: who reads the file, and whether its rules are used.
 *
 * What was read goes to cco_configured.tuning_read (a hash, and whether it is used), which is one
 * of the settings that the ranks of every communicator compare. */
#ifndef CCO_TUNING_FILE_H
#define CCO_TUNING_FILE_H

#include "mpi/mpi_compat.h"
#include "tune/rules.h"

/* The start of a file, to be freed: as much as a tuning file may have, and a byte more.  NULL and
 * errno if it cannot be read. */
char *cco_tuning_text(const char *path, size_t *length);

/* In MPI_Init: rank 0 of `world` reads the file and decides, all get its text.  Collective; its
 * ranks have agreed on CRESTA_TUNING.  An error ends the job.  NULL: there are no rules. */
cco_rules *cco_tuning_share(MPI_Comm world);

/* Where ranks have not met: each reads and decides for itself.  An error goes to
 * cco_configured.error, if there is none yet. */
cco_rules *cco_tuning_own(void);

#endif
