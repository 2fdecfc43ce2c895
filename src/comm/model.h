/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - what an implementation is to the rest: a name and a function that runs a call. */
#ifndef CCO_MODEL_H
#define CCO_MODEL_H

#include "call/call.h"

struct cco_comm;
struct cco_algo; /* algo/algo.h */

enum {
    CCO_PARAMS = 3,  /* of an algorithm, at most, */
    CCO_OPTIONS = 4, /* and of a model */
};

typedef struct cco_param {
    const char *name; /* NULL ends the list */
    long preset, min, max;
    const char *help;
    const char *names; /* of its values from 0 on, "a|b|c"; NULL for a number */
} cco_param;

/* What the schedule of a begin runs over (progress/path.h). */
typedef enum cco_path {
    CCO_PATH_NONE,          /* there is none: the MPI's own non-blocking call */
    CCO_PATH_MESSAGES,      /* sends and receives, */
    CCO_PATH_NODES,         /* or memory between ranks of a node, and messages between nodes */
    CCO_PATH_SEGMENT,       /* memory that the ranks share, without any call of the MPI: ours, */
    CCO_PATH_SHM_COPY_ONCE, /* ours, with large data copied by the kernel from where they are, */
    CCO_PATH_SHM_AUTO,      /* or only those of a size for which that is faster, if it may, */
    CCO_PATH_PUTS,          /* or that of a window, where the sender moves data, */
    CCO_PATH_GETS,          /* or the receiver */
    CCO_PATHS
} cco_path;

/* True if it never calls the MPI. */
static inline bool cco_path_is_memory(cco_path path)
{
    return path > CCO_PATH_NODES;
}

/* True if it is CCO_PATH_SEGMENT, from where the kernel may also copy. */
static inline bool cco_path_reads(cco_path path)
{
    return path == CCO_PATH_SHM_COPY_ONCE || path == CCO_PATH_SHM_AUTO;
}

/* How a collective is done: what MODEL[:ALGORITHM][?param=value...] comes to. */
typedef struct cco_way {
    const struct cco_model *model;
    const struct cco_algo *algo; /* NULL: the model has none, or chooses for each call */
    long params[CCO_PARAMS];     /* of the algorithm */
    long options[CCO_OPTIONS];   /* of the model */
    bool exact;     /* CRESTA_REPRODUCIBLE wants its algorithm: nothing else may run instead */
    bool automatic; /* `auto` chose it, for blocking calls: what it cannot do the MPI does,
                       without a report */
} cco_way;

typedef struct cco_model {
    const char *name;    /* as users write it, "nonblock" */
    const char *doc;     /* one line */
    const char *lacking; /* why this build cannot run it; NULL if it can */
    const struct cco_model
        *below;    /* what runs instead of what it refuses; NULL for `mpi`, which refuses nothing */
    bool touches;  /* the program's buffers, by the processor: not where they may be a GPU's */
    bool by_nodes; /* chooses algorithms by where ranks are: its rules have nodes found out */
    bool begins_plainly; /* by the MPI's own non-blocking calls, as its name says */
    bool other_names; /* makes calls of the MPI with other names than the program's: what is wrong
                         in their arguments is looked for first (plan/arguments.h) */
    /* Its algorithms for a collective, NULL after the last.  NULL itself where it has none. */
    const struct cco_algo *(*algorithms)(cco_coll coll, int i);
    /* Its parameters whatever the algorithm; NULL if it has none. */
    const cco_param *options;
    /* Why it must not run a collective so on `size` processes; NULL if it may.  The same answer on
     * all ranks.  May be NULL itself. */
    const char *(*refuses)(const cco_way *way, cco_coll coll, int size);
    /* Runs a blocking call on a set-up intracommunicator, any collective.  Returns MPI_SUCCESS or
     * an MPI error class, after the communicator's error handler was called: last of all, since it
     * may never come back. */
    int (*run)(struct cco_comm *state, const cco_way *way, const cco_call *call);
    /* What its begins run over, if they can; `*why` if that is another model's.  The state may
     * be NULL: anywhere.  NULL itself: nothing. */
    cco_path (*path)(const struct cco_comm *state, const cco_way *way, const char **why);
    /* In the set-up of a communicator where a call may go that way, on all ranks: makes what it
     * would otherwise make in a call, where it waits for ranks that may be in other calls. */
    void (*set_up)(struct cco_comm *state, const cco_way *way);
    /* The life of a job: in MPI_Init, if a rule of the configuration names the model; in
     * MPI_Finalize, before and after the states of communicators are freed.  Collective over
     * MPI_COMM_WORLD; each may be NULL. */
    void (*job_begin)(void);
    void (*job_end)(void);
    void (*job_free)(void);
    /* CRESTA_Win_init and CRESTA_Win_finalize; `wanted` if a rule may bring calls.  Collective. May
     * be NULL. */
    void (*hold)(struct cco_comm *state, bool wanted);
    void (*let_go)(struct cco_comm *state);
} cco_model;

#endif
