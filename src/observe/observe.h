/* SPDX-License-Identifier: BSD-3-Clause */
/* observe.h - what looks at the program's calls, besides what runs them: observers
 * (observe/observers.def), each a table of what it does at the moments below.
 *
 * The paths of a call know these moments and no observer.  An observer that looks at blocking calls
 * of a communicator sets a bit of its `watched`, and calls cco_comm_update: other calls, and
 * communicators without it, pay nothing.  What it does at the other moments happens while it is on
 * (cco_observe_switch). */
#ifndef CCO_OBSERVE_H
#define CCO_OBSERVE_H

#include "core/comm.h"
#include "progress/operation.h"
#include "tune/rules.h"

/* All of these may be NULL. */
typedef struct cco_observer {
    /* The job.  Its settings are read; false for an error, which is named in `error`. */
    bool (*read)(char *error, size_t room);
    /* Rules that it may choose besides those of the program, NULL from the last on. */
    const cco_rules *(*rules)(int k);
    /* Ranks have agreed on the settings.  The program may call from several threads, or not. */
    void (*job_begin)(bool many_threads);
    /* This rank waits for something, and may use the MPI. */
    void (*poll)(void);
    /* In MPI_Finalize, collective: before anything is written, and afterwards. */
    void (*job_last)(void);
    void (*job_end)(void);

    /* A communicator.  The program has made it; has begun to make a duplicate; frees it. */
    void (*comm_made)(MPI_Comm comm);
    void (*comm_duplicates)(MPI_Comm comm, MPI_Comm made);
    void (*comm_freed)(MPI_Comm comm);
    /* Its first blocking call has come, and its set-up comes next, also if it is none. */
    void (*comm_met)(MPI_Comm comm, cco_coll coll);
    /* In its set-up: its ranks know its name and its number; it is ready; so it is for begins.
     * Later: its program has chosen other implementations. */
    void (*comm_named)(cco_comm *state);
    void (*comm_ready)(cco_comm *state);
    void (*begins_ready)(cco_comm *state);
    void (*comm_chosen)(cco_comm *state);

    /* A blocking call, if `watched` asks for it.  Then it runs by a choice; `after` gets what
     * `chosen` has returned, or NULL where it did not run.  An error handler of the program may
     * jump out of the call. */
    void (*before)(cco_comm *state, const cco_call *call);
    void *(*chosen)(cco_comm *state, const cco_choice *choice, const cco_call *call,
                    MPI_Count bytes);
    void (*after)(cco_comm *state, const cco_call *call, void *kept, int rc);

    /* What is not a blocking collective, on a communicator whose `watched` asks: true if it may not
     * run, which one rank has said. */
    bool (*refuses)(const cco_comm *state, const char *call);
    /* A call that only starts, or makes a persistent request; waits for nobody.  `state` is NULL
     * where there is none. */
    void (*started)(cco_comm *state, const cco_call *call, bool persistent);
    /* A begin on a communicator that is ready, which the MPI will not refuse, before it is decided
     * what it comes to. */
    void (*begun)(cco_comm *state, const cco_call *call);
    /* It comes to an operation of ours: what is to be called at its end. */
    cco_ending (*operation)(cco_comm *state, const cco_choice *choice, const cco_call *call);
    /* True while begins may come to operations of ours later, whatever the rules of now say. */
    bool (*may_begin)(void);
} cco_observer;

#define CCO_OBSERVER(name, watched) extern const cco_observer cco_observer_##name;
#include "observe/observers.def"
#undef CCO_OBSERVER

enum {
#define CCO_OBSERVER(name, watched) CCO_OBSERVER_##name,
#include "observe/observers.def"
#undef CCO_OBSERVER
    CCO_OBSERVERS
};

typedef struct cco_observer_entry {
    const cco_observer *observer;
    unsigned watched;
    int on; /* how often it was switched on; 0: it is off */
} cco_observer_entry;

extern cco_observer_entry cco_observers[CCO_OBSERVERS];

/* The sum of `on`: of all, and of those that look at calls that only start, or refuse them. */
extern int cco_observing __attribute__((visibility("hidden")));
extern int cco_observing_starts __attribute__((visibility("hidden")));

/* An observer is on while it was switched on (`change` is 1) more often than off (-1). */
void cco_observe_switch(const cco_observer *observer, int change);

static inline bool cco_observes(void)
{
    return __builtin_expect(__atomic_load_n(&cco_observing, __ATOMIC_RELAXED) > 0, 0);
}

static inline bool cco_observes_starts(void)
{
    return __builtin_expect(__atomic_load_n(&cco_observing_starts, __ATOMIC_RELAXED) > 0, 0);
}

/* The k-th observer, if it is on; else one that does nothing. */
const cco_observer *cco_observer_on(int k);

/* Calls a function, by its name above, of all observers that are on: CCO_OBSERVE(poll, ()). */
#define CCO_OBSERVE(function, arguments)                                                           \
    for (int k_ = 0; cco_observes() && k_ < CCO_OBSERVERS; k_++)                                   \
        if (cco_observer_on(k_)->function != NULL)                                                 \
    cco_observer_on(k_)->function arguments

/* `read` of all observers, also of those that are off.  False if one has found an error. */
bool cco_observe_read(char *error, size_t room);

/* Gives all their rules to `take`. */
void cco_observe_rules(void (*take)(const cco_rules *rules));

/* True if one says so, and the first ending that one wants. */
bool cco_observe_refuses(const cco_comm *state, const char *call);
bool cco_observe_may_begin(void);
cco_ending cco_observe_operation(cco_comm *state, const cco_choice *choice, const cco_call *call);

/* A blocking call that is watched. */
typedef struct cco_observed {
    unsigned watched;
    void *kept[CCO_OBSERVERS];
} cco_observed;

void cco_observe_before(cco_observed *observed, cco_comm *state, const cco_call *call);
void cco_observe_chosen(cco_observed *observed, cco_comm *state, const cco_choice *choice,
                        const cco_call *call, MPI_Count bytes);
void cco_observe_after(const cco_observed *observed, cco_comm *state, const cco_call *call, int rc);

#endif
