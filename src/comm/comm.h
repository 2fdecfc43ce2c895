/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h - the state of a communicator: what was chosen for it, what was recorded, what the models
 * keep there.
 *
 * An attribute of the communicator.  It ends when MPI_Comm_free begins, on all ranks alike: the
 * program's own attributes have delete functions that may call collectives, and are called before
 * ours on one rank and after it on another.  The standard lets no two threads be in collectives
 * of one communicator at once, so a state needs no lock.  Where several may call, it has a mark: a
 * call takes it (cco_comm_enter), and fails if another thread has it. */
#ifndef CCO_COMM_H
#define CCO_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/channel.h"
#include "comm/facts.h"
#include "comm/members.h"
#include "comm/model.h"
#include "comm/neighbors.h"
#include "base/watch.h"
#include "profile/profile.h"
#include "call/reentry.h"

/* An implementation for calls of `min` to `max` bytes, of some classes. */
typedef struct cco_choice {
    MPI_Count min, max;
    unsigned classes; /* that the call must have too (reduce/classes.h) */
    cco_way way;
    const char *impl;    /* the implementation that runs, as a user would write it */
    const char *refused; /* why it is not the one that the rule names; NULL if it is */
    const char *why;     /* the rule and where it stands (base/kept_text.h) */
    cco_profile_counter *records[CCO_MODES]; /* arrays over size classes, made when first needed */
} cco_choice;

typedef struct cco_choices {
    cco_choice *list; /* first match wins; the last entry takes every size */
    int count;
} cco_choices;

/* What tune/choose.h makes of all rules, with bits per collective. */
typedef struct cco_chosen {
    cco_choices of[CCO_COLLECTIVES];
    uint32_t plain;      /* only the MPI is chosen; */
    uint32_t sized;      /* the choice depends on the bytes; */
    uint32_t classed;    /* it depends on the classes of the call, too; */
    uint32_t to_report;  /* there is something to say first, or to stop for (api/report.h) */
    void *program_rules; /* what CRESTA_Set_impl said (tune/rules.h) */
} cco_chosen;

/* What a profile keeps (profile/profile.h). */
typedef struct cco_records {
    cco_arrival_set *arrivals;     /* per collective; NULL: no call was recorded */
    cco_internode_traffic between; /* since the last record (plan/scheduled.h) */
    cco_choice *native;   /* per collective: of calls that only start it; made when needed */
    cco_members *members; /* of rank 0; NULL elsewhere */
} cco_records;

/* Calls that begin in two phases (process/set_up.h). */
typedef struct cco_begins {
    bool ready;        /* what they run over is there (progress/path.h) */
    bool wanted;       /* the next blocking call makes it ready */
    unsigned count;    /* so far: all before it was ready for them, and in a race */
    uint32_t reported; /* bit per collective: what one runs was said */
} cco_begins;

/* What a model keeps about a communicator; `key` is an address of the model's own. */
typedef struct cco_attached {
    const void *key;
    void *data;
    void (*release)(void *data);
    struct cco_attached *next;
} cco_attached;

/* The nodes of a communicator, as its ranks have agreed; 0 if some rank does not know. */
typedef struct cco_nodes {
    bool counted;                   /* only if a rule asks (tune/nodes.h); */
    const struct cco_node_map *map; /* then this is there (sched/node_map.h) */
    int count;
    int ranks_min, ranks_max; /* of the communicator, on one node */
} cco_nodes;

/* The topology of a communicator, as far as neighborhood collectives need it. */
typedef struct cco_topology {
    cco_neighbors *near; /* of this rank; NULL: there is no topology. */
    bool repeats;        /* Some rank has several edges with one process, */
    bool one_sided;      /* or, in a graph that is meant both ways, one that the other end lacks, */
    bool sinks;          /* or edges that come in, and none that go out. */
    uint32_t ruled;      /* bit per neighborhood collective: a rule is in force */
} cco_topology;

/* What is left when a process has failed (comm/failure.h). */
typedef struct cco_failure_handler {
    void (*leave)(void *what, int error);
    void *what;
    struct cco_failure_handler *next;
} cco_failure_handler;

/* A process has failed (comm/failure.h). */
typedef struct cco_failure {
    int error, lost; /* what calls return, and its rank */
    bool told;       /* which was said */
    cco_watch watch; /* of the ranks (cco_comm_watch) */
    cco_failure_handler *leavers;
} cco_failure;

/* A call that ran before and how its model runs it again (plan/call_cache.h), with other buffers.
 * `call` is the one that comes, and NULL if it has no arrays: then the cached one says the rest.
 * What runs may forget all repeats (cco_comm_update): it takes what it needs of this one first. */
struct cco_cached_call;
struct cco_comm;
struct cco_repeat;
typedef int (*cco_repeat_run)(const struct cco_repeat *again, const void *sendbuf, void *recvbuf,
                              const cco_call *call);

typedef struct cco_repeat {
    struct cco_cached_call *cached; /* what it came to; NULL: there is none */
    void *own;                      /* what the model keeps of the communicator */
    cco_repeat_run run;
    struct cco_comm *state;
} cco_repeat;

enum { CCO_REPEATS = 16 }; /* a power of two */

typedef enum cco_watched {
    CCO_WATCHED_CALLS = 1,   /* a race looks at each (race/race.c) */
    CCO_WATCHED_ARM = 2,     /* the next one takes another arm of a race (race/arms.h) */
    CCO_WATCHED_TIMES = 4,   /* a race times each (race/turns.h) */
    CCO_WATCHED_NOTES = 8,   /* each is noted, to be replayed (record/recorder.h) */
    CCO_WATCHED_WHERE = 16,  /* each says that this rank is in it (hang/whereabouts.h) */
    CCO_WATCHED_MATCH = 32,  /* each is compared between the ranks first (match/match.c) */
    CCO_WATCHED_RESULTS = 64 /* results are compared with the MPI's (validate/validate.h) */
} cco_watched;

typedef struct cco_comm {
    MPI_Comm comm;
    int rank, size;
    bool inter;      /* an intercommunicator: every call goes to the MPI */
    cco_facts facts; /* what its ranks have agreed on, once they are ready */
    cco_nodes nodes;
    cco_topology topology; /* from its set-up on */
    bool ready;            /* ranks have agreed, choices are made */
    unsigned watched;      /* cco_watched: which observers look at its next blocking calls */
    uint32_t ours; /* bit per collective: not straight to the MPI, or something to record, say or
                      do; 0 until it is ready, and where calls take its mark first; */
    uint32_t slow; /* something comes before the call (cco_comm_update sets these three); */
    uint32_t unrepeated; /* something comes before each call, so that none is in `repeats`; */
    uint64_t number;     /* that its rank 0 gave it: no other state there has it; 0: none yet */
    cco_chosen chosen;
    cco_repeat repeats[CCO_REPEATS]; /* by what was chosen: none is older than that */
    cco_records records;
    cco_begins begins;
    cco_failure failure;
    char name[MPI_MAX_OBJECT_NAME];
    uint64_t mark;         /* of the thread that is in a call, or was last (cco_comm_enter) */
    cco_peer_state *seats; /* of its ranks, in memory that they share (model shm); NULL: none */
    cco_channel channel;   /* for our messages; none until it is needed */
    cco_attached *attached;
} cco_comm;

/* What this thread looked up last.  A state that ends makes all of these void, so that a handle
 * that comes to mean another communicator is not mistaken for the old one. */
typedef struct cco_comm_last {
    MPI_Comm comm;
    cco_comm *state;
    unsigned ended;
} cco_comm_last;

extern _Thread_local cco_comm_last cco_comm_looked_up __attribute__((tls_model("initial-exec")));
extern unsigned cco_comms_ended; /* how many states have */

/* Several threads may call at the same time: then each call takes the mark of its communicator. */
extern bool cco_comm_threads;
void cco_comm_expect_threads(bool many);

/* What a call that has the mark of a communicator keeps. */
typedef struct cco_comm_mark {
    uint64_t *word, *outer, before;
} cco_comm_mark;

/* The mark is this thread's until cco_comm_leave; a state of NULL has none.  If another thread has
 * it, says so, calls the error handler, and returns the error.  What threads remember of the
 * communicator is void if another one had the mark last. */
int cco_comm_enter(cco_comm_mark *mark, cco_comm *state, cco_coll coll);

/* True if the mark was as `mark` says, and is this thread's now; otherwise `mark` says how it is.
 */
static inline bool cco_comm_mark_take(cco_comm_mark *mark, cco_coll coll)
{
    if (!__atomic_compare_exchange_n(mark->word, &mark->before, cco_mark_of_thread(coll), false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    cco_mark_held = mark->word;
    return true;
}

/* Where this thread has read what the state remembers of an equal call, and then could not take the
 * mark, which it had last: a call in that call, or an error, as for cco_comm_enter. */
int cco_comm_enter_again(cco_comm_mark *mark, cco_comm *state, cco_coll coll);

static inline void cco_comm_leave(const cco_comm_mark *mark)
{
    if (mark->word != NULL && cco_mark_held == mark->word)
        __atomic_store_n(mark->word, mark->before, __ATOMIC_RELEASE);
    cco_mark_held = mark->outer;
}

/* The state of a communicator, if it has one; any handle will do. */
cco_comm *cco_comm_look_up(MPI_Comm comm);

/* The state of `comm` if this thread looked it up last, otherwise NULL. */
static inline cco_comm *cco_comm_remembered(MPI_Comm comm)
{
    const cco_comm_last *last = &cco_comm_looked_up;
    const unsigned ended = __atomic_load_n(&cco_comms_ended, __ATOMIC_RELAXED);
    return last->comm == comm && last->ended == ended ? last->state : NULL;
}

/* The state of `comm`, NULL if it has none. */
static inline cco_comm *cco_comm_find(MPI_Comm comm)
{
    cco_comm *state = cco_comm_remembered(comm);
    return state != NULL ? state : cco_comm_look_up(comm);
}

/* Makes a state, without communication; NULL for MPI_COMM_NULL, for a communicator that is being
 * freed, or when memory or attributes run out.  Not ready. */
cco_comm *cco_comm_create(MPI_Comm comm);

/* The number that this rank proposes for a communicator in its set-up: ranks take the largest. */
uint64_t cco_comm_propose_number(const cco_comm *state);

/* The program frees a communicator: its state ends, and this thread makes no other one until
 * cco_comm_free_ends with what this has returned.  In between collectives go to the MPI. */
int cco_comm_free_begins(const MPI_Comm *comm);
void cco_comm_free_ends(int before);

/* Reads the communicator's name again; "" for none, and for the names that Open MPI makes up. */
void cco_comm_read_name(cco_comm *state);

/* The channel for messages of ours, made in the first call, which is collective; NULL on all ranks
 * if the MPI could not make a communicator for it. */
cco_channel *cco_comm_channel(cco_comm *state);

/* The error that a call returns which all ranks refuse after rank 0 has said why: first waits for
 * that, since an error handler may end the job.  Collective; the caller calls the handler. */
int cco_comm_refuse(cco_comm *state, int error);

/* What `ours` would say if calls took no mark. */
bool cco_comm_looks_at(const cco_comm *state, cco_coll coll);

/* Sets `ours`, `slow` and `unrepeated` from what else is in the state, and forgets all repeats:
 * whatever decides how a call runs, and has changed, ends up here. */
void cco_comm_update(cco_comm *state);

/* Whether calls of a collective may be repeated at once: nothing has to come before one. */
static inline bool cco_comm_may_repeat(const cco_comm *state, cco_coll coll)
{
    return !(state->unrepeated >> coll & 1);
}

/* Whether the bytes of a call matter before it runs. */
static inline bool cco_comm_needs_bytes(const cco_comm *state, cco_coll coll)
{
    return cco_profiled || (state->chosen.sized >> coll & 1);
}

/* The blocks in arrays of a collective that has them for all its peers, received and sent. */
static inline cco_degrees cco_comm_blocks(const cco_comm *state, cco_coll coll)
{
    const cco_neighbors *near = state->topology.near;
    if (cco_is_neighbor(coll))
        return near != NULL ? near->degrees : (cco_degrees){0, 0};
    return (cco_degrees){state->size, state->size};
}

/* Drops the choices of every collective; what they recorded goes to the profile. */
void cco_comm_drop_choices(cco_comm *state);

/* The choice for a call of `bytes`; `state` is ready. */
static inline cco_choice *cco_choose(cco_comm *state, cco_coll coll, MPI_Count bytes)
{
    cco_choice *choice = state->chosen.of[coll].list;
    for (int left = state->chosen.of[coll].count - 1; left > 0; left--, choice++)
        if (choice->min <= bytes && bytes <= choice->max)
            break;
    return choice;
}

/* The choice where it depends on the classes of the call. */
static inline cco_choice *cco_choose_classed(cco_comm *state, cco_coll coll, MPI_Count bytes,
                                             unsigned classes)
{
    cco_choice *choice = state->chosen.of[coll].list;
    for (int left = state->chosen.of[coll].count - 1; left > 0; left--, choice++)
        if (choice->min <= bytes && bytes <= choice->max &&
            (choice->classes & classes) == choice->classes)
            break;
    return choice;
}

/* What was attached under `key`, NULL if nothing. */
static inline void *cco_comm_attached(const cco_comm *state, const void *key)
{
    for (const cco_attached *a = state->attached; a != NULL; a = a->next)
        if (a->key == key)
            return a->data;
    return NULL;
}

/* `size` bytes, zero, that are kept with the state; `release(data)` runs when the communicator is
 * freed, and frees them too.  Stops the job when memory runs out: to go on without them on one rank
 * only would hang the others. */
void *cco_comm_attach(cco_comm *state, const void *key, size_t size, void (*release)(void *));

/* Calls `visit` for every state there is. */
void cco_comm_for_each(void (*visit)(cco_comm *state));

/* A communicator that has a state: the one that this thread looked up last, if it is still there.
 * MPI_COMM_NULL if none has. */
MPI_Comm cco_comm_any(void);

/* Ends all states, those of communicators that the program never freed too.  No state may be made
 * afterwards. */
void cco_comm_end(void);

#endif
