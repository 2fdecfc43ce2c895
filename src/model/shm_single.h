/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_single.h - whether the ranks of a communicator may read each other's memory
 * (shm?copy=single), and how far apart their cores are (shm?copy=auto).
 */
#ifndef CCO_SHM_SINGLE_H
#define CCO_SHM_SINGLE_H

#include "comm/comm.h"
#include "transport/shm/distance.h"
#include "transport/shm/pull.h"
#include "transport/shm/segment.h"

typedef struct cco_shm_single {
    bool asked; /* for it: it is allowed, or never will be */
    bool measured;
    size_t at; /* in every rank's share of the segment: room for cco_shm_single_share() bytes */
    cco_pull pull;
    cco_distance distance; /* the same on all ranks, zeros if not known */
} cco_shm_single;

/* Bytes of shared memory that a rank has. */
size_t cco_shm_single_share(void);

/* True, on all ranks, if the kernel lets each read the memory of every other.  Found out in the
 * first call, which is collective. */
bool cco_shm_single_open(cco_shm_single *single, const cco_comm *state, const cco_segment *segment);

/* It does not, and the user asks for it: reported as a fallback.  MPI_SUCCESS, or
 * MPI_ERR_UNSUPPORTED_OPERATION where CRESTA_FALLBACK forbids one. */
int cco_shm_single_refused(cco_comm *state);

/* How far apart the cores are: between two ranks of the communicator, or of an earlier one if all
 * ranks know the same.  Found out in the first call, which is collective; the ring is one in the
 * segment, between calls. */
cco_distance cco_shm_single_distance(cco_shm_single *single, const cco_comm *state,
                                     cco_slot_ring *ring);

void cco_shm_single_free(cco_shm_single *single);

#endif
