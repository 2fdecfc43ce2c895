/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h - the files that a run writes of itself: profile, record of MPI-IO, summary of what was
 * validated, and that the library was loaded. */
#ifndef CCO_OUTPUTS_H
#define CCO_OUTPUTS_H

#include <stdbool.h>

/* On rank 0, in MPI_Init: a file that cannot be written is reported before the program computes,
 * not after. */
void cco_outputs_try(void);

/* CRESTA_LOADED. */
void cco_outputs_loaded(void);

/* In MPI_Init, collective: there will be a profile. */
void cco_outputs_begin_profile(void);

/* Where MPI_Init did not pass by: in the first call that did.  No communication. */
void cco_outputs_begin_late(void);

/* In MPI_Finalize, collective over MPI_COMM_WORLD.  `met`: all ranks have been in MPI_Init with the
 * library; `spawned`: by another program's MPI_Comm_spawn.  Where processes have failed, what needs
 * all of them is not written, and one rank says so. */
void cco_outputs_write(bool met, bool spawned);

#endif
