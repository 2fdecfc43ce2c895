/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - schedules that are built, kept for their problem, and started again.
 *
 * A cache per communicator.  The least recently used goes first, those used once before others; a
 * plan that would take a large part of the memory has a place of its own.  Ranks need not agree on
 * what is kept: building a schedule takes no communication. */
#ifndef CCO_PLAN_H
#define CCO_PLAN_H

#include "algo/algo.h"
#include "profile/profile.h"
#include "sched/block_progress.h"

typedef struct cco_plan {
    cco_problem problem; /* with its parameters; arrays of its own */
    cco_layout layouts[CCO_BASES];
    const cco_algo *algo;
    cco_engine *engine; /* NULL: the algorithm cannot cut these elements */
    long *round_ns;     /* ns, of each round (progress/round_time.h); NULL until somebody asks */
    cco_block_progress_map *landings; /* where blocks are written last; likewise */
    size_t scratch;                   /* bytes that it needs */
    size_t memory;                    /* bytes that it takes */
    bool again;                       /* it was used more than once */
    bool remembered;             /* there may be pointers to it in cached calls (call_cache.h) */
    cco_internode_traffic sends; /* to other nodes, where those are known */
    struct cco_plan *next;
} cco_plan;

/* Zero to begin with, but for transport and shared. */
typedef struct cco_plans {
    const cco_transport *transport;
    void *shared;    /* for its operations */
    cco_plan *first; /* the one used last */
    size_t memory;   /* of all */
    unsigned drops;  /* how often one was let go that is remembered: a pointer from before may be
                        void */
} cco_plans;

/* The plan of an algorithm for a problem, kept or made.  Returns MPI_SUCCESS, MPI_ERR_NO_MEM,
 * MPI_ERR_UNSUPPORTED_OPERATION for steps that the transport lacks, or
 * MPI_ERR_INTERN for a faulty algorithm.  It stays until the next call of these functions. */
int cco_plan_find(cco_plans *plans, const cco_algo *algo, const cco_problem *q, cco_plan **plan);

/* The schedule of an algorithm for a problem, which must stay as long: MPI_SUCCESS; MPI_ERR_INTERN
 * if the algorithm cannot cut these elements, or is faulty; or another error.  To be freed in any
 * case. */
int cco_plan_schedule(const cco_algo *algo, const cco_problem *q, cco_sched **made);

/* Lets go of all. */
void cco_plans_empty(cco_plans *plans);

#endif
