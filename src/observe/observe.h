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

#include "comm/comm.h"
#include "progress/operation.h"
#include "tune/rules.h"

/* Any of these functions may be NULL. */
typedef struct cco_observer {
    /* The settings of the job are read.  False for an error, which `error` names. */
    bool (*read)(char *error, size_t room);
    /* The k-th of the rules that it may choose besides the program's; NULL: there are no more. */
    const cco_rules *(*rules)(int k);
    /* Ranks have agreed on the settings.  `many_threads`: several may call at once. */
    void (*job_begin)(bool many_threads);
    /* This rank waits for something, and may use the MPI. */
    void (*poll)(void);
    /* In MPI_Finalize, collective: before anything is written, and afterwards. */
    void (*job_last)(void);
    void (*job_end)(void);

    /* The program has made a communicator, has begun to make a duplicate of one, frees one. */
    void (*comm_made)(MPI_Comm comm);
    void (*comm_duplicates)(MPI_Comm comm, MPI_Comm made);
    void (*comm_freed)(MPI_Comm comm);
    /* The first blocking call on a communicator has come, and its set-up is next.
     * Intercommunicators have no set-up: each of their calls is a first one. */
    void (*comm_met)(MPI_Comm comm, cco_coll coll);
    /* In the set-up of a communicator: its ranks know its name and number; it is ready; begins may
     * be operations of the library from now on.  Later: the program has chosen other rules. */
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

    /* Another call, if `watched` asks.  True if it must not run; one rank has said why. */
    bool (*refuses)(const cco_comm *state, const char *call);
    /* A call that only starts, or makes a persistent request; waits for nobody.  `state` is NULL
     * where there is none. */
    void (*started)(cco_comm *state, const cco_call *call, bool persistent);
    /* A begin with valid arguments on a communicator that is ready.  The library decides afterwards
     * whether the MPI or an operation of its own runs it. */
    void (*begun)(cco_comm *state, const cco_call *call);
    /* A begin becomes an operation of the library.  Returns what is to be called at its end. */
    cco_ending (*operation)(cco_comm *state, const cco_choice *choice, const cco_call *call);
    /* True while begins may become operations of the library later, whatever today's rules say. */
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

/* `read` of all observers, also of those that are off; their errors and rules become those of the
 * job.  Then the other functions above for a job. */
void cco_observe_read(void);
void cco_observe_begin(void);
void cco_observe_last(void);
void cco_observe_end(void);

/* True if an observer says so; and the first ending that an observer wants. */
bool cco_observe_refuses(const cco_comm *state, const char *call);
bool cco_observe_may_begin(void);
cco_ending cco_observe_operation(cco_comm *state, const cco_choice *choice, const cco_call *call);

/* What observers keep from the begin of a blocking call to its end. */
typedef struct cco_observed {
    unsigned watched;
    void *kept[CCO_OBSERVERS];
} cco_observed;

void cco_observe_before(cco_observed *observed, cco_comm *state, const cco_call *call);
void cco_observe_chosen(cco_observed *observed, cco_comm *state, const cco_choice *choice,
                        const cco_call *call, MPI_Count bytes);
void cco_observe_after(const cco_observed *observed, cco_comm *state, const cco_call *call, int rc);

#endif
