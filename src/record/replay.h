/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.h - a recording that is done: parts that run one after the other, again and again.
 *
 * A part is a plan of calls that do not depend on each other, merged (sched/merge.h), or one call
 * that is made again as it is.  Plans run over a channel or over memory of the recording's own, so
 * that recordings start and end in any order.  Whoever polls the queue (progress/queue.h) moves all
 * that are under way.
 *
 * It outlives its communicator if it has plans only. */
#ifndef CCO_REPLAY_H
#define CCO_REPLAY_H

#include "comm/channel.h"
#include "plan/scheduled.h"
#include "progress/stream_sets.h"
#include "record/recorder.h"
#include "transport/route/route.h"

/* Calls `first` to `end` - 1. */
typedef struct cco_replay_part {
    int first, end;
    cco_path path; /* CCO_PATH_NONE: one call as it is */
    cco_engine *engine;
    char *scratch;
    cco_binding binding;
    int sends;
} cco_replay_part;

/* How far a replay is. */
typedef enum cco_replay_phase {
    CCO_REPLAY_IDLE,    /* none is under way */
    CCO_REPLAY_RUNNING, /* a plan, which whoever polls moves */
    CCO_REPLAY_CALLS,   /* it has come to a call that the program's thread has to make */
    CCO_REPLAY_DONE
} cco_replay_phase;

typedef struct cco_replay {
    cco_comm *state; /* NULL: the program has freed the communicator */
    int rank, size;
    struct cco_recorded **calls;
    int count;
    cco_replay_part *parts;
    int parts_count;
    cco_typed_op *operations; /* of each call */
    cco_channel channel;      /* for plans over messages */
    cco_stream_sets *sets[CCO_PATHS];
    const cco_node_map *map; /* kept */
    cco_p2p p2p;
    cco_route route;
    cco_scheduled over[CCO_PATHS]; /* the transport of each path */
    cco_progress_level level;      /* what a thread must be allowed to do to move it */
    int at;                        /* the part that runs */
    int phase;                     /* cco_replay_phase */
    int rc;
    int idle;                  /* polls one after the other that moved nothing */
    cco_watch program;         /* of its communicator, which the program may revoke, */
    cco_watch peers;           /* and of ranks that messages are from */
    int error, lost;           /* a process has failed: what replays end with, its rank, or -1 */
    struct cco_replay *next;   /* of those under way */
    struct cco_replay *beside; /* of those of one communicator */
} cco_replay;

/* Starts a replay: its first plan.  MPI_SUCCESS, or the MPI error class of what did not start. */
int cco_replay_start(cco_replay *replay);

/* Waits for its end.  `*told` becomes true if the error handler was called. */
int cco_replay_end(cco_replay *replay, bool *told);

/* True while one is under way, or has ended and nobody has asked. */
static inline bool cco_replay_is_under_way(const cco_replay *replay)
{
    return __atomic_load_n(&replay->phase, __ATOMIC_ACQUIRE) != CCO_REPLAY_IDLE;
}

#endif
