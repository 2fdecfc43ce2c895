/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.h - where the bytes of a derived datatype lie, as runs of memory that loops copy.  MPI_Pack
 * looks at a type block by block, and takes some hundred instructions before it does.
 *
 * Found when a type is packed first, and kept as an attribute of it: they end with the type, and
 * its duplicates share them.  At most 1024 runs of a type, and 4 MiB of all types. */
#ifndef CCO_RUNS_H
#define CCO_RUNS_H

#include <stddef.h>

#include "core/mpi_compat.h"

typedef struct cco_runs cco_runs;

/* Those of a type; NULL for types of the standard, and where the MPI does not tell how a type was
 * made, or where there are too many: MPI_Pack knows. */
const cco_runs *cco_runs_of(MPI_Datatype type);

/* `count` elements to as many bytes as they hold, and back; any count, MPI_BOTTOM too. */
void cco_runs_pack(const cco_runs *runs, char *to, const void *from, size_t count);
void cco_runs_unpack(const cco_runs *runs, void *to, const char *from, size_t count);

/* Nothing is packed any more. */
void cco_runs_end(void);

#endif
