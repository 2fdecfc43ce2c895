/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_single.h - whether the ranks of a communicator may read each other's memory
 * (shm?copy=single).
 */
#ifndef CCO_SHM_SINGLE_H
#define CCO_SHM_SINGLE_H

#include "core/comm.h"
#include "transport/shm/pull.h"
#include "transport/shm/segment.h"

typedef struct cco_shm_single {
    bool asked; /* for it: it is allowed, or never will be */
    size_t at;  /* in every rank's share of the segment: room for cco_pull_share() bytes */
    cco_pull pull;
} cco_shm_single;

/* `*there`, the same on all ranks: the kernel lets each read the memory of every other.  Found out
 * in the first call, which is collective; reported as a fallback if not.  MPI_SUCCESS, or
 * MPI_ERR_UNSUPPORTED_OPERATION where CRESTA_FALLBACK forbids one. */
int cco_shm_single_there(cco_shm_single *single, cco_comm *state, const cco_segment *segment,
                         bool *there);

void cco_shm_single_free(cco_shm_single *single);

#endif
