/* SPDX-License-Identifier: BSD-3-Clause */
/* call_cache.h - calls seen before, and what they came to: the short path for repeated calls.
 *
 * A cached call holds for the same arguments but buffers, where these mean the same for ever:
 * predefined types and operations.  Arrays of counts, places and types are compared with copies.
 * Ranks need not agree on what they remember. */
#ifndef CCO_CALL_CACHE_H
#define CCO_CALL_CACHE_H

#include <stdint.h>

#include "plan/bound.h"
#include "plan/plan.h"

enum {
    CCO_CACHED_CALLS = CCO_REPEATS,
    CCO_CACHED_CALL_BLOCKS = 256, /* longer arrays are not remembered */
};

typedef struct cco_cached_call {
    cco_call call;     /* NULL for buffers; its communicator is the state's */
    unsigned in_place; /* bit per buffer: MPI_IN_PLACE */
    uintptr_t apart;   /* where its buffers must not lie (alias.h) */
    cco_way way;
    bool set;       /* otherwise there is nothing here */
    unsigned drops; /* plan.h */
    cco_plan *plan; /* NULL if the model makes none */
    cco_binding binding;
    cco_problem problem; /* its arrays are the cached call's */
    unsigned kept;       /* bit per array of the call of which there is a copy */
    int blocks;          /* for how many there is room in each array of these: */
    char *arrays;        /* those of the problem, then the copies; NULL until there are any */
} cco_cached_call;

/* True if the arrays of a call are those that a cached call holds copies of. */
bool cco_cached_call_has_arrays(const cco_cached_call *m, const cco_call *c);

/* The place for a call in an array of CCO_CACHED_CALLS. */
static inline int cco_cached_call_index(const cco_call *c)
{
    const MPI_Count n = 5 * c->recvcount + 3 * c->sendcount + c->root;
    const uintptr_t arrays = ((uintptr_t)c->sendcounts + (uintptr_t)c->recvcounts) / sizeof(int);
    return (int)(((unsigned)(n + (MPI_Count)c->coll) + (unsigned)arrays) % CCO_CACHED_CALLS);
}

/* Which buffers of a call are MPI_IN_PLACE, as bits. */
static inline unsigned cco_cached_call_in_place(const cco_call *c)
{
    return (unsigned)(c->sendbuf == MPI_IN_PLACE) | (unsigned)(c->recvbuf == MPI_IN_PLACE) << 1;
}

/* True if a cached call was of the same arguments, but for buffers, which are two, and for what is
 * in arrays. */
static inline bool cco_cached_call_is_like(const cco_cached_call *m, const cco_call *c)
{
    const cco_call *old = &m->call;
    return old->coll == c->coll && old->root == c->root && old->op == c->op &&
           old->sendcount == c->sendcount && old->recvcount == c->recvcount &&
           old->sendtype == c->sendtype && old->recvtype == c->recvtype && old->large == c->large &&
           m->in_place == cco_cached_call_in_place(c) &&
           (uintptr_t)c->sendbuf - (uintptr_t)c->recvbuf != m->apart;
}

/* True if it holds for a call that runs in some way; `drops` is that of the plans. */
static inline bool cco_cached_call_matches(const cco_cached_call *m, unsigned drops,
                                           const cco_way *way, const cco_call *c)
{
    return m->set && m->drops == drops && m->way.algo == way->algo &&
           m->way.params[0] == way->params[0] && m->way.params[1] == way->params[1] &&
           m->way.params[2] == way->params[2] && cco_cached_call_is_like(m, c) &&
           (m->kept == 0 || cco_cached_call_has_arrays(m, c));
}

/* Remembers what a call came to, if that will hold; true if so. */
bool cco_cached_call_write(cco_cached_call *m, unsigned drops, const cco_way *way,
                           const cco_bound *bound, cco_plan *plan);

/* From now on a call like a cached one, which the model has just found to hold for the way that is
 * chosen, runs by `repeat` at once, if it may: until choices change, or another call takes its
 * place.  What `own` and `m` point to must stay until the communicator is freed. */
void cco_cached_call_repeat(cco_cached_call *m, cco_comm *state, const cco_way *way, void *own,
                            cco_repeat_run repeat);

/* Frees what a cached call holds. */
void cco_cached_call_free(cco_cached_call *m);

#endif
