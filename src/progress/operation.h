/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.h - a begun operation: a collective call that runs as a schedule of ours while the
 * program does something else (MPI 4.0, section 2.4.2).
 *
 * It has everything that it needs: schedule, scratch, packed data.  Its request is a generalized
 * request of the MPI (MPI 4.0, section 13.2).  It progresses whenever somebody polls the queue
 * (progress/queue.h). */
#ifndef CCO_OPERATION_H
#define CCO_OPERATION_H

#include "mpi/grequest.h"
#include "plan/scheduled.h"
#include "progress/copies.h"
#include "progress/round_time.h"
#include "progress/partial_request.h"
#include "progress/stream_sets.h"
#include "transport/route/route.h"

struct cco_operation_pool; /* progress/operation_pool.h */

/* Who wants to know when an operation is over, before the program does: once, by the thread that
 * ends it, and with its result in place. */
typedef struct cco_ending {
    void (*run)(void *data, int rc); /* NULL: nobody */
    void *data;
} cco_ending;

typedef struct cco_operation {
    struct cco_operation_pool *pool;
    cco_scheduled own;
    cco_progress_level level; /* what a thread must be allowed to do in order to progress it */
    cco_p2p p2p;
    cco_unlike unlike;          /* what it meets in messages, where it has no stream set */
    cco_watch watch;            /* of the ranks that send to it */
    unsigned idle;              /* polls that moved nothing, one after the other */
    cco_route route;            /* where it runs over memory and messages */
    cco_stream_set *stream_set; /* NULL: it runs over messages only */
    cco_shown_rule shows;       /* messages that are shown there */
    bool starts;                /* its schedule has not started */
    bool counted;               /* by the progress thread, which polls because of it */
    cco_call call;
    cco_bound bound;
    const cco_node_map *nodes; /* of its problem, kept until it ends; */
    const cco_neighbors *near; /* likewise */
    const cco_algo *algo;
    cco_plan *plan;            /* the one that runs */
    cco_round_time round_time; /* of its rounds, where they take messages */
    bool shares;               /* that plan brings the counts that the call's own plan needs, */
    cco_binding sharing;       /* and this is its binding */
    MPI_Datatype *types;       /* duplicates that cco_operation_end needs, */
    int held;                  /* their number */
    int rc;                    /* what its request returns */
    cco_ending ending;
    size_t kept;        /* bytes of memory, while it is idle */
    cco_copies *copies; /* of what the call points to, NULL if none */
    cco_grequest grequest;
    cco_partial_request streamed; /* by it, where blocks may be asked for, */
    cco_block_progress *landing;  /* and those that are there; NULL until somebody asks */
    bool ended;                   /* nobody progresses it any more, nor adds to the landing */
    struct cco_operation *next;   /* of a list or a stack */
    struct cco_operation *behind; /* the next of those that wait for its stream set */
} cco_operation;

/* Binds and packs `o->call`, and builds its schedule, or the one that has to run before it.
 * Returns MPI_SUCCESS or an MPI error class. */
int cco_operation_make(cco_operation *o, cco_comm *state, const cco_way *way);

/* Starts the schedule.  Returns MPI_SUCCESS or an MPI error class. */
int cco_operation_start(cco_operation *o);

/* Polls it once, by the one thread that has it.  True if its schedule is over, with success or not;
 * sets `*moved` if a round ended, or a block landed.  Calls the MPI only if its level or
 * `calls_mpi` says so. */
bool cco_operation_progress(cco_operation *o, bool calls_mpi, bool *moved);

/* It ends with an error, though its schedule goes on. */
void cco_operation_give_up(cco_operation *o, int error);

/* After its schedule: unpacks the data and drops types and copies. */
void cco_operation_end(cco_operation *o);
void cco_operation_drop(cco_operation *o); /* types and copies */

#endif
