/* SPDX-License-Identifier: BSD-3-Clause */
/* whereabouts.h - which call each thread of this process is in: what a roll-call of a job that
 * hangs tells (CRESTA_WATCHDOG, src/rollcall).
 *
 * Written by the threads that make calls, by plain stores and only while somebody wants to know;
 * read at any time by one other thread.  A stay that an error handler of the program left by a jump
 * is overwritten by the next one. */
#ifndef CCO_WHEREABOUTS_H
#define CCO_WHEREABOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cco_where_comm; /* observe/where_comm.h */

typedef enum cco_open_call_kind {
    CCO_STAY_NONE,       /* no call yet */
    CCO_STAY_COLLECTIVE, /* a blocking one */
    CCO_STAY_SET_UP,     /* the same, whose communicator is being set up first */
    CCO_STAY_BEGUN,      /* a collective that was begun: only as the last of them */
    CCO_STAY_MESSAGE,    /* a send, a receive, a probe */
    CCO_STAY_REQUESTS,   /* waits for requests, or for a window */
    CCO_STAY_FINALIZE,
    CCO_STAY_OTHER /* a call of which only cco_outermost knows */
} cco_open_call_kind;

enum {
    CCO_STAY_NOBODY = -1000000,
    CCO_STAY_ANY = -1000001, /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    CCO_STAY_IMPL = 40
};

/* A stay in a call.  Ranks are of its communicator; CCO_STAY_NOBODY: it has no such argument. */
typedef struct cco_open_call {
    int64_t inside;              /* 0: the thread has left the call */
    int64_t kind;                /* cco_open_call_kind */
    const char *call;            /* its name, without MPI_; a constant */
    struct cco_where_comm *comm; /* NULL: none, or freed */
    int64_t number;              /* of a collective on its communicator, from 1 on */
    int64_t root, to, from, tag;
    int64_t bytes;    /* -1: ranks may have unlike ones */
    int64_t requests; /* it waits for */
    const char *op;   /* a constant; NULL: no reduction */
    char impl[CCO_STAY_IMPL];
} cco_open_call;

/* A stay that has none of these. */
static inline cco_open_call cco_open_call_of(cco_open_call_kind kind, const char *call,
                                             struct cco_where_comm *comm)
{
    return (cco_open_call){.kind = kind,
                           .call = call,
                           .comm = comm,
                           .root = CCO_STAY_NOBODY,
                           .to = CCO_STAY_NOBODY,
                           .from = CCO_STAY_NOBODY,
                           .tag = CCO_STAY_NOBODY,
                           .bytes = -1};
}

/* Where it waits in a schedule, or on slots; read beside the stay, and so perhaps a moment older
 * or younger. */
typedef struct cco_where_step {
    int64_t round, rounds; /* of `rounds`; -1: it is in no schedule */
    int64_t peer;          /* whom it waits for, CCO_STAY_NOBODY: unknown */
    int64_t ranks;         /* among whom `peer` counts; 0: those of the communicator */
} cco_where_step;

/* The call that a thread is in as a library ahead of crestacoll sees it (src/calls): any function,
 * and the place in the program, neither of which entries of ours know.  It stays where it is. */
typedef struct cco_outermost {
    uint64_t version; /* odd: the thread is in the call, else that is its last one */
    const char *call; /* its name, without MPI_; a constant; NULL: there was none */
    const void *site; /* the place */
} cco_outermost;

/* What that library exports under the name CCO_AHEAD. */
typedef struct cco_ahead {
    cco_outermost *(*here)(void); /* that of this thread, which is written from now on; NULL: no
                                   * memory */
    bool (*sees_all)(void);       /* only this thread of the process has made calls */
    size_t (*tell)(const void *site, char *text, size_t room); /* fields of an answer; 0: none */
} cco_ahead;
#define CCO_AHEAD "cresta_ahead"

/* All that is known of a thread. */
typedef struct cco_where {
    uint64_t version; /* another one for each stay */
    cco_open_call now, begun;
    cco_where_step step;
    bool seen;        /* by a library ahead: a thread that is in no call is in none of the MPI */
    const void *site; /* of the call; NULL: not known */
} cco_where;

extern bool cco_where_wanted __attribute__((visibility("hidden"))); /* use the function */

static inline bool cco_where_on(void)
{
    return __builtin_expect(__atomic_load_n(&cco_where_wanted, __ATOMIC_RELAXED), 0);
}

/* Begins and ends all this; no other thread makes calls.  `library`: NULL if there is none. */
void cco_where_begin(const cco_ahead *library);
void cco_where_end(void);

/* The following return at once where it is off. */
void cco_where_enter(const cco_open_call *stay); /* of this thread; `inside` is set here */
void cco_where_leave(void);
void cco_where_is_begun(const cco_open_call *stay);

/* The implementation of the call that this thread is in. */
void cco_where_impl(const char *impl);

/* This thread is about to wait. */
void cco_where_wait(const cco_where_step *step);

/* Where in the program a site is, as fields of an answer; returns the characters, 0 if that is not
 * known. */
size_t cco_where_tell(const void *site, char *text, size_t room);

/* What is known of the k-th thread that made calls; false if there is none, or if it changes faster
 * than one can read. */
enum { CCO_WHERE_THREADS = 64 };
bool cco_where_read(int k, cco_where *where);

/* A communicator is freed: no stay names it any more.  Under cco_where_lock. */
void cco_where_forget(const struct cco_where_comm *comm);

/* While it is held, no communicator that a stay names is freed. */
void cco_where_lock(bool locks);

#endif
