/* SPDX-License-Identifier: BSD-3-Clause */
/* levels.h - small calls of more ranks than should all read each other's slots: flat collectives
 * (flat.h) within groups, and between their leaders. */
#ifndef CCO_LEVELS_H
#define CCO_LEVELS_H

#include "transport/shm/flat.h"
#include "transport/shm/groups.h"

enum {
    CCO_LEVELS_RINGS = 2,
    CCO_LEVELS_MOST = 8 << 10, /* bytes of a call's data: one slot of the larger ring */
};

/* A rank's end.  A group's members have rings with each other, leaders others with each other. */
typedef struct cco_levels {
    const cco_groups *groups;
    int rank;
    cco_slot_ring near[CCO_LEVELS_RINGS], far[CCO_LEVELS_RINGS];
    cco_slot_family near_family, far_family; /* of these */
    char *scratch;                           /* cco_levels_scratch() bytes */
} cco_levels;

/* Bytes of a rank's rings with its group, as many again with other leaders. */
size_t cco_levels_share(void);
size_t cco_levels_scratch(void);

/* Opens the end of `rank` on memory that is zero.  The rings of group g's member m begin at
 * `memory` + (g * most + m) * `share`, those that it uses as a leader `far` bytes after. */
void cco_levels_open(cco_levels *levels, const cco_groups *groups, int rank, char *memory,
                     size_t share, size_t far);

/* Whether calls of these bytes go over levels: barrier, bcast, reduce and allreduce. */
bool cco_levels_takes(cco_coll coll, size_t bytes);

/* Whether groups fit: operands are taken in the order of ranks if the operation does not commute.
 */
static inline bool cco_levels_fits(const cco_groups *groups, const cco_problem *q)
{
    return q->commutative || groups->in_order;
}

/* Runs a call for which both are true; data without gaps.  MPI_SUCCESS or what an operation of the
 * MPI returned. */
int cco_levels_run(cco_levels *levels, const cco_problem *q, const cco_binding *binding);

#endif
