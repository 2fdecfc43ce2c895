/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h - a call that was recorded: its arguments, kept, the memory that it touches, and the
 * schedule that it comes to. */
#ifndef CCO_RECORDED_H
#define CCO_RECORDED_H

#include "plan/scheduled.h"
#include "progress/copies.h"
#include "record/ranges.h"
#include "sched/message_levels.h"

typedef struct cco_recorded {
    cco_call call; /* its arrays and derived types are ours */
    cco_copies *copies;
    MPI_Datatype *types; /* duplicates, */
    int held;            /* so many */
    cco_way way;         /* how it ran */
    bool succeeded;
    cco_touched touched;
    cco_path path;   /* of its schedule; CCO_PATH_NONE: the call is made again as it is, and */
    const char *why; /* this is why */
    cco_workspace workspace; /* of its bound call */
    cco_bound bound;
    const cco_neighbors *near; /* of its problem, kept */
    const cco_algo *algo;
    size_t *counts; /* cco_problem.counts, if its algorithm asks */
    cco_typed_op operation;
    cco_sched *sched;
    cco_message_levels levels;
} cco_recorded;

/* Notes a valid call before it runs.  NULL when memory runs out. */
cco_recorded *cco_recorded_new(const cco_comm *state, const cco_way *way, const cco_call *call);
void cco_recorded_free(cco_recorded *r); /* NULL: does nothing */

/* What all ranks have in common of a call, as a number. */
uint64_t cco_recorded_signature(const cco_recorded *r, const cco_comm *state);

/* Sets `path` and `why`, as far as this rank sees: ranks may differ in types. */
void cco_recorded_find_path(cco_recorded *r, cco_comm *state);

/* Binds it, with data that lie without gaps, and settles its algorithm: MPI_SUCCESS, or an MPI
 * error class.  An MPI_ERR_UNSUPPORTED_OPERATION all ranks have. */
int cco_recorded_bind(cco_recorded *r, const cco_comm *state);

/* Builds its schedule.  MPI_SUCCESS or an MPI error class. */
int cco_recorded_build(cco_recorded *r);

/* Messages that its schedule sends. */
int cco_sched_sends(const cco_sched *s);

#endif
