/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.h - what all ranks must have in common, compared before anything depends on it. */
#ifndef CCO_AGREE_H
#define CCO_AGREE_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stdint.h>

enum { CCO_AGREED = 9 /* words at most */ };

/* The least and the most of each of `count` words over the ranks of an intracommunicator: if they
 * are the same, so is the word everywhere.  Collective, one allreduce.  Returns MPI_SUCCESS or an
 * MPI error class. */
int cco_agree(MPI_Comm comm, const uint64_t *words, int count, uint64_t *least, uint64_t *most);

/* In MPI_Init, collective: if a rank has an error in its environment, or one that differs, one rank
 * says so and the job ends.  Else cco_job (comm/facts.h) has what any rank asks for, and if that is
 * something there are service collectives from now on. */
void cco_agree_on_job(void);

/* The end of cco_agree_on_job, for a caller that found by itself that there is something to say. */
void cco_agree_explain(MPI_Comm comm);

#endif
