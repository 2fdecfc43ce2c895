/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_sets.h - how begun operations (progress/operation.h) pass through memory that the ranks of
 * a communicator share, or those of a node: a few sets of streams, each for one operation at a
 * time.  They never call the MPI.
 *
 * The n-th begin of a communicator takes stream set n modulo their number, on all ranks; if another
 * operation still has it, the new one waits in line.  So a stream carries the same operations in
 * the same order at both of its ends. */
#ifndef CCO_STREAM_SETS_H
#define CCO_STREAM_SETS_H

#include "comm/comm.h"
#include "sched/node_map.h"
#include "transport/rma/window.h"
#include "transport/shm/segment.h"
#include "transport/stream/stream.h"

enum {
    CCO_STREAM_SETS = 4, /* for each path; */
    CCO_STREAM_SET_SHARE =
        128 << 10 /* bytes of each for a rank, or more where many ranks need it */
};

struct cco_operation; /* progress/operation.h */

typedef struct cco_stream_set {
    cco_area area;
    cco_watch watch; /* of the ranks that share it */
    cco_stream stream;
    struct cco_operation *last; /* of those that have it and wait for it; NULL: it is free */
} cco_stream_set;

/* A process has failed (base/watch.h); from any thread. */
typedef void cco_stream_fail(void *owner, int error, int lost);

typedef struct cco_stream_sets {
    cco_segment segment;
    cco_window window; /* or this */
    char **shares;     /* where the shares of the ranks begin; NULL for a rank alone on its node */
    const cco_node_map *nodes; /* of streams within nodes, kept; else NULL */
    int count;                 /* of stream sets */
    unsigned number;           /* of begins */
    cco_stream_fail *fail;     /* NULL: nothing has to be done then */
    void *owner;
    bool readable; /* the ranks may read each other's memory, as far as anybody has asked */
    cco_stream_set list[CCO_STREAM_SETS];
} cco_stream_sets;

/* Makes `count` stream sets for a path, CCO_STREAM_SETS at most; collective.  NULL on all ranks if
 * they, or those of a node, share no memory, or there is none.  The ranks of a node meet on
 * `channel`, that of begins.  `fail(owner, ...)` says that a process has failed. */
cco_stream_sets *cco_stream_sets_make(cco_comm *state, cco_path path, int count,
                                      const cco_channel *channel, cco_stream_fail *fail,
                                      void *owner);

/* A process has failed, or ranks made unlike calls: this rank takes no further part because of that
 * error; from any thread. */
void cco_stream_sets_leave(cco_stream_sets *stream_sets, int error);

/* Finds out whether the ranks may read each other's memory; of CCO_PATH_SEGMENT, collective. */
void cco_stream_sets_ask(cco_stream_sets *stream_sets, const cco_comm *state);

/* No operation may use one afterwards.  Local; NULL: does nothing. */
void cco_stream_sets_free(cco_stream_sets *stream_sets);

/* The stream set of the next begin; NULL for a rank alone on its node. */
static inline cco_stream_set *cco_stream_sets_next(cco_stream_sets *stream_sets)
{
    if (stream_sets->shares == NULL)
        return NULL;
    return &stream_sets->list[stream_sets->number++ % (unsigned)stream_sets->count];
}

#endif
