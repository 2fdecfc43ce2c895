/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.h - what all ranks must have in common, compared before anything depends on it. */
#ifndef CCO_AGREE_H
#define CCO_AGREE_H

#include "core/mpi_compat.h"
#include <stdbool.h>
#include <stdint.h>

/* Compares `count` (at most 4) words over the ranks of an intracommunicator; equal[i] says whether
 * words[i] is the same everywhere. Collective, one allreduce.  Returns MPI_SUCCESS or an MPI error
 * class. */
int cco_agree(MPI_Comm comm, const uint64_t *words, int count, bool *equal);

/* Collective: if a rank of `comm` has an error in its environment, or one that differs, one rank
 * says so and the job ends. */
void cco_agree_on_config(MPI_Comm comm);

/* The end of cco_agree_on_config, for a caller that found by itself that there is something to say.
 */
void cco_agree_explain(MPI_Comm comm);

#endif
