/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_rings.h - the slot rings of model shm on a communicator: their memory, made in the first call
 * that needs it, and who looks after its ranks. */
#ifndef CCO_SHM_RINGS_H
#define CCO_SHM_RINGS_H

#include "comm/comm.h"
#include "transport/shm/flat_plan.h"
#include "transport/shm/segment.h"

/* In order of size: data in the cache line of their number and little more; what a program's
 * middle-sized calls need; pieces of what is larger, in a ring that fits into a cache of a core. */
enum { CCO_SHM_SMALL, CCO_SHM_MIDDLE, CCO_SHM_LARGE, CCO_SHM_RINGS };
extern const size_t cco_shm_rooms[CCO_SHM_RINGS]; /* for data in a slot */

/* A communicator for barriers takes little memory. */
typedef enum cco_shm_part { CCO_SHM_NEAR, CCO_SHM_FAR, CCO_SHM_PARTS } cco_shm_part;

typedef struct cco_shm_rings {
    cco_segment segments[CCO_SHM_PARTS];
    cco_watch watches[CCO_SHM_PARTS]; /* of the ranks that share them */
    bool asked[CCO_SHM_PARTS];        /* for a segment: it is there, or never will be */
    cco_slot_ring *rings;             /* CCO_SHM_RINGS on pages of their own: of those that are not
                                         opened there is no memory */
    cco_slot_family family;           /* of these */
    size_t more;                      /* where a share has what else the last part was asked for */
} cco_shm_rings;

/* The slot rings of a plan; all of a call that has none. */
cco_shm_part cco_shm_part_of(const cco_flat *plan);

/* Before anything else. */
void cco_shm_rings_begin(cco_shm_rings *rings);

/* Whether there is memory for a part, the same on all ranks, with `more` bytes for each rank behind
 * its rings.  Collective when the part is asked for first. */
bool cco_shm_rings_there(cco_shm_rings *rings, cco_shm_part part, size_t more,
                         const cco_comm *state, const cco_watch *watch);

/* A process has failed: a call that is under way ends in memory of its own, with `error`. */
void cco_shm_rings_leave(cco_shm_rings *rings, int error);

/* Gives the memory to the pool for the next communicator.  The end of the rings. */
void cco_shm_rings_let_go(cco_shm_rings *rings);

#endif
