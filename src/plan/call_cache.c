/* SPDX-License-Identifier: BSD-3-Clause */
/* call_cache.c - see call_cache.h. */
#include "plan/call_cache.h"

#include <stdlib.h>
#include <string.h>

#include "core/data.h"

enum { ARRAYS = 6 };

/* The arrays of a call; sizes of their elements. */
static void list_arrays(const cco_call *c, const void *arrays[ARRAYS])
{
    const void *list[ARRAYS] = {c->sendcounts, c->senddispls, c->recvcounts,
                                c->recvdispls, c->sendtypes,  c->recvtypes};
    memcpy(arrays, list, sizeof list);
}

static size_t element_of(int array)
{
    return array < 4 ? sizeof(int) : sizeof(MPI_Datatype);
}

/* Of the problem: sizes and places of both sides. */
static size_t problem_bytes(int ranks)
{
    return 4 * (size_t)ranks * sizeof(size_t);
}

bool cco_cached_call_has_arrays(const cco_cached_call *m, const cco_call *c)
{
    const void *arrays[ARRAYS];
    const size_t ranks = (size_t)m->problem.size;
    const char *copy = m->arrays + problem_bytes(m->problem.size);
    list_arrays(c, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        const size_t bytes = ranks * element_of(i);
        if (m->kept >> i & 1 && memcmp(arrays[i], copy, bytes) != 0)
            return false;
        copy += bytes;
    }
    return true;
}

/* The arrays that mean something on this rank: those that an end refers to. */
static unsigned significant(const cco_bound *bound)
{
    const void *arrays[ARRAYS];
    unsigned found = 0;
    list_arrays(bound->call, arrays);
    for (int i = 0; i < ARRAYS; i++)
        for (int k = 0; k < 2; k++) {
            const cco_buffer *end = k == 0 ? &bound->in : &bound->out;
            const bool is = arrays[i] != NULL && end->blocks > 0 &&
                            (arrays[i] == end->counts || arrays[i] == end->displs ||
                             arrays[i] == end->types);
            found |= (unsigned)is << i;
        }
    return found;
}

/* The types of an end that the call does not use may be anything. */
static bool lasting(const cco_buffer *end)
{
    bool all = end->types != NULL || end->blocks == 0 || cco_type_predefined(end->type);
    for (int i = 0; i < end->blocks && end->types != NULL && all; i++)
        all = cco_type_predefined(end->types[i]);
    return all;
}

static bool can_hold(const cco_bound *bound)
{
    const cco_call *c = bound->call;
    const bool reduces = cco_coll_infos[c->coll].properties & CCO_REDUCTION;
    const bool arrays = bound->in.counts != NULL || bound->out.counts != NULL;
    return !bound->packs_in && !bound->packs_out && bound->problem.counts == NULL &&
           lasting(&bound->in) && lasting(&bound->out) && (!reduces || cco_op_predefined(c->op)) &&
           (!arrays || (!c->large && bound->problem.size <= CCO_CACHED_CALL_RANKS));
}

/* Copies the arrays of a side to `at`; returns what is behind them. */
static char *copy_side(cco_side *side, char *at, int ranks)
{
    const size_t bytes = (size_t)ranks * sizeof(size_t);
    if (side->n != NULL)
        side->n = memcpy(at, side->n, bytes);
    if (side->at != NULL)
        side->at = memcpy(at + bytes, side->at, bytes);
    return at + 2 * bytes;
}

/* Copies the arrays of the call and of its problem. */
static void copy_arrays(cco_cached_call *m, const cco_call *c)
{
    const void *arrays[ARRAYS];
    const size_t ranks = (size_t)m->problem.size;
    char *at = copy_side(&m->problem.in, m->arrays, m->problem.size);
    at = copy_side(&m->problem.out, at, m->problem.size);
    list_arrays(c, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        if (m->kept >> i & 1)
            memcpy(at, arrays[i], ranks * element_of(i));
        at += ranks * element_of(i);
    }
}

static size_t arrays_bytes(int ranks)
{
    size_t bytes = problem_bytes(ranks);
    for (int i = 0; i < ARRAYS; i++)
        bytes += (size_t)ranks * element_of(i);
    return bytes;
}

bool cco_cached_call_write(cco_cached_call *m, unsigned drops, const cco_way *way,
                           const cco_bound *bound, cco_plan *plan)
{
    const cco_call *c = bound->call;
    char *arrays = m->arrays;
    if (!can_hold(bound))
        return false;
    const unsigned kept = significant(bound);
    if (kept != 0 && arrays == NULL && (arrays = malloc(arrays_bytes(bound->problem.size))) == NULL)
        return false;
    *m = (cco_cached_call){.call = *c,
                           .in_place = cco_cached_call_in_place(c),
                           .way = *way,
                           .set = true,
                           .plan = plan,
                           .drops = drops,
                           .binding = bound->binding,
                           .problem = bound->problem,
                           .kept = kept,
                           .arrays = arrays};
    m->problem.layouts = m->binding.layouts;
    if (kept != 0)
        copy_arrays(m, c);
    if (plan != NULL)
        plan->remembered = true;
    return true;
}

void cco_cached_call_repeat(cco_cached_call *m, cco_comm *state, const cco_way *way, void *own,
                            cco_repeat_run repeat)
{
    if (!cco_comm_may_repeat(state, m->call.coll))
        return;
    m->way = *way; /* its options may be others by now */
    state->repeats[cco_cached_call_index(&m->call)] = (cco_repeat){m, own, repeat};
}

void cco_cached_call_free(cco_cached_call *m)
{
    free(m->arrays);
    *m = (cco_cached_call){0};
}
