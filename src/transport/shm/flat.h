/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.h - collectives on slot rings: every rank shows what it gives, piece by piece, and reads
 * what it needs from all others itself.
 *
 * After the flat algorithms of shared memory in R. L. Graham, G. Shipman: MPI support for
 * multi-core architectures: optimized shared memory collectives, EuroPVM/MPI 2008. */
#ifndef CCO_FLAT_H
#define CCO_FLAT_H

#include "sched/engine.h"
#include "transport/shm/pull.h"
#include "transport/shm/region.h"
#include "transport/shm/slot_ring.h"

enum {
    CCO_FLAT_RANKS = 64,  /* at most: every rank reads what every other shows */
    CCO_FLAT_UNIT = 8192, /* bytes of an element of a reduction, at most */
};

/* How a call goes over one slot ring. */
typedef struct cco_stage {
    int ring;              /* of those it may use */
    size_t before;         /* bytes of every block that went over the slot ring before */
    size_t window;         /* bytes of every block, or of the vector, that go in one piece */
    uint64_t gives;        /* pieces of its own data that this rank shows */
    uint64_t rounds;       /* pieces that it shows or reads */
    bool per_reader;       /* a slot has a lane for each reader, and nothing for its writer */
    cco_slot_rounds swaps; /* of two ranks */
    uint64_t pieces;       /* of a call in rounds that goes on, if all ranks know */
    uint32_t pattern;      /* of such calls, for base/writes.h */
    cco_writes_use use;    /* how ranks write in their slots, */
    uint64_t alone;        /* up to this piece; from it on the other of two ranks only reads */
    bool shares;           /* a reduction in two steps (shares.c) */
    bool small;            /* small data, in one piece (small.c) */
    bool shown;            /* ... from slots of each rank's own, written by ordinary stores */
    bool direct;           /* data may be read where they are, without a slot */
    bool last;             /* nothing of this rank's own is left for the next stage */
    bool past;             /* what this rank gets is written past the caches, which it would fill */
    size_t wide;           /* the window in shares if no operand needs a slot; 0: none */
    size_t count;          /* elements of a reduction's result, if in one piece */
    uint64_t stamp;        /* of the call (call/stamp.h), the same on all ranks */
    uint64_t word;         /* what slots of this rank say: what those of all do, */
    uint64_t base;
    bool says;   /* and how long their block is, where all have others */
    size_t head; /* bytes before each lane that say how long it is; 0: none do */
} cco_stage;

/* All of a call: where every rank knows how much goes, over one slot ring. Where each knows only
 * what it gives and gets itself, a first piece of every block over one, and what is left over the
 * next.
 */
typedef struct cco_flat {
    int stages;
    cco_stage stage[2];
} cco_flat;

/* What ranks read where it is, without a slot. */
typedef struct cco_direct_access {
    const cco_regions *regions; /* memory that they share; NULL: none */
    cco_pull *pull;             /* all memory, by the kernel; NULL on all ranks: none */
    size_t least;               /* bytes of the largest block given from which that is used */
} cco_direct_access;

/* Runs a planned call (flat_plan.h); data without gaps.  What this rank gives is read where it is
 * if `reach` (which may be NULL) has that, and then it waits for its readers.  An operation has a
 * kernel, or a fold for all operands at once, or neither.  MPI_SUCCESS or what an operation of the
 * MPI returned. */
int cco_flat_run(cco_slot_ring *rings, const cco_flat *plan, const cco_problem *q,
                 const cco_binding *binding, const cco_direct_access *reach);

/* Waits until all ranks have come to the call that `stamp` says, on a ring that has its call to
 * itself.  MPI_SUCCESS or the class of an error: some rank makes another call. */
int cco_flat_meet(cco_slot_ring *ring, uint64_t stamp);

/* What ranks compare is the call of which the planned one is a part: `stamp`. */
void cco_flat_is_part(cco_flat *plan, uint64_t stamp);

/* Runs a plan whose only stage is `small`, in fewer instructions. */
int cco_flat_run_small(cco_slot_ring *rings, const cco_stage *stage, const cco_problem *q,
                       const cco_binding *binding);

#endif
