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
    uint64_t key;     /* cco_cached_call_key */
    uintptr_t apart;  /* where its buffers must not lie (alias.h) */
    uint8_t kinds[2]; /* of its buffers (cco_buffer_kind) */
    cco_call call;    /* its buffers mean nothing now; its communicator is the state's */
    cco_way way;
    bool set;       /* otherwise there is nothing here */
    unsigned drops; /* plan.h */
    cco_plan *plan; /* NULL if the model makes none */
    cco_binding binding;
    cco_problem problem;   /* its arrays are the cached call's */
    unsigned kept;         /* bit per array of the call of which there is a copy */
    int blocks;            /* for how many there is room in each array of these: */
    char *arrays;          /* those of the problem, then the copies; NULL until there are any */
    cco_repeat_run marked; /* what runs it when the call has the mark of its communicator */
} cco_cached_call;

/* True if the arrays of a call are those that a cached call holds copies of. */
bool cco_cached_call_has_arrays(const cco_cached_call *m, const cco_call *c);

/* The place in an array of CCO_CACHED_CALLS for what makes calls differ, as one number: that of an
 * element of `size` bytes, a power of two.  Calls of one collective whose counts are close, or
 * powers of two, have different ones: the first bits of a multiple of the golden ratio. */
static inline size_t cco_cached_call_place(unsigned n, unsigned size)
{
    _Static_assert(CCO_CACHED_CALLS == 16, "4 bits");
    return n * 2654435769u / (((unsigned)1 << 28) / size) & (CCO_CACHED_CALLS - 1) * size;
}

static inline unsigned cco_cached_call_mix(cco_coll coll, int root, MPI_Count sendcount,
                                           MPI_Count recvcount)
{
    return (unsigned)(recvcount + 4 * sendcount) + (unsigned)root + (unsigned)coll;
}

/* The place for a call. */
static inline int cco_cached_call_index(const cco_call *c)
{
    const uintptr_t arrays = ((uintptr_t)c->sendcounts + (uintptr_t)c->recvcounts) / sizeof(int);
    const unsigned n = cco_cached_call_mix(c->coll, c->root, c->sendcount, c->recvcount);
    return (int)cco_cached_call_place(n + (unsigned)arrays, 1);
}

/* Collective, root and kind of counts: compared at once. */
static inline uint64_t cco_cached_call_key(cco_coll coll, int root, bool large)
{
    return (uint64_t)(unsigned)root << 32 | (uint64_t)large << 8 | (uint64_t)coll;
}

/* Null and MPI_IN_PLACE, which follow one another in every MPI, each have a kind of their own:
 * where a buffer was right, a null one may be wrong. */
static inline uint8_t cco_buffer_kind(const void *buffer)
{
    const uintptr_t in_place = (uintptr_t)MPI_IN_PLACE;
    const uintptr_t kind = (uintptr_t)buffer - (in_place == 1 ? 0 : in_place);
    return kind < 2 ? (uint8_t)kind : 2;
}

/* Its buffers are two, and null or MPI_IN_PLACE where those of the cached call were. */
static inline bool cco_cached_call_has_buffers(const cco_cached_call *m, const void *sendbuf,
                                               const void *recvbuf)
{
    return cco_buffer_kind(sendbuf) == m->kinds[0] && cco_buffer_kind(recvbuf) == m->kinds[1] &&
           (uintptr_t)sendbuf - (uintptr_t)recvbuf != m->apart;
}

/* True if a cached call was of the same arguments, but for buffers, which are two, and for what is
 * in arrays. */
static inline bool cco_cached_call_is_like(const cco_cached_call *m, const cco_call *c)
{
    const cco_call *old = &m->call;
    return m->key == cco_cached_call_key(c->coll, c->root, c->large) && old->op == c->op &&
           old->sendcount == c->sendcount && old->recvcount == c->recvcount &&
           old->sendtype == c->sendtype && old->recvtype == c->recvtype &&
           cco_cached_call_has_buffers(m, c->sendbuf, c->recvbuf);
}

/* What a communicator remembers of a call without arrays that had these arguments; else NULL.  For
 * callers that have not put them into a cco_call.  `one`: there is one count and one type. */
static inline const cco_repeat *
cco_cached_call_rerun(const cco_comm *state, cco_coll coll, int root, bool large, bool one,
                      const void *sendbuf, const void *recvbuf, MPI_Count sendcount,
                      MPI_Count recvcount, MPI_Datatype sendtype, MPI_Datatype recvtype, MPI_Op op)
{
    const unsigned n = cco_cached_call_mix(coll, root, sendcount, recvcount);
    const size_t place = cco_cached_call_place(n, sizeof *state->repeats);
    const cco_repeat *repeat = (const void *)((const char *)state->repeats + place);
    const cco_cached_call *m = repeat->cached;
    const bool like = m != NULL && m->key == cco_cached_call_key(coll, root, large) &&
                      m->call.op == op && m->call.recvcount == recvcount &&
                      m->call.recvtype == recvtype &&
                      (one || (m->call.sendcount == sendcount && m->call.sendtype == sendtype)) &&
                      cco_cached_call_has_buffers(m, sendbuf, recvbuf);
    return like ? repeat : NULL;
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

/* True for a call without arrays whose types and operation are the standard's, so that what holds
 * for it holds for each like it. */
bool cco_call_lasts(const cco_comm *state, const cco_call *call);

/* Remembers nothing but the arguments of such a call, whose buffers are two. */
void cco_cached_call_write_arguments(cco_cached_call *m, int rank, const cco_call *call);

/* From now on a call like a cached one, which the model has just found to hold for the way that is
 * chosen, runs by `repeat` at once, if it may: until choices change, or another call takes its
 * place.  What `own` and `m` point to must stay until the communicator is freed. */
void cco_cached_call_repeat(cco_cached_call *m, cco_comm *state, const cco_way *way, void *own,
                            cco_repeat_run repeat);

/* How a cached call is to be repeated: where several threads may call, with the mark of its
 * communicator. */
cco_repeat cco_cached_call_repeat_by(cco_cached_call *m, void *own, cco_repeat_run run,
                                     cco_comm *state);

/* Frees what a cached call holds. */
void cco_cached_call_free(cco_cached_call *m);

#endif
