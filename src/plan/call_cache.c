/* SPDX-License-Identifier: BSD-3-Clause */
/* call_cache.c - see call_cache.h. */
#include "plan/call_cache.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "plan/alias.h"

enum { ARRAYS = 6 };

/* The arrays of a call; sizes of their elements. */
static void call_cache_list_arrays(const cco_call *c, const void *arrays[ARRAYS])
{
    const void *list[ARRAYS] = {c->sendcounts, c->senddispls, c->recvcounts,
                                c->recvdispls, c->sendtypes,  c->recvtypes};
    memcpy(arrays, list, sizeof list);
}

enum { WIDEST = sizeof(MPI_Aint) > sizeof(MPI_Datatype) ? sizeof(MPI_Aint) : sizeof(MPI_Datatype) };

/* The size of an array's elements, in calls that are not large. */
static size_t element_of(const cco_call *c, int array)
{
    if (array >= 4)
        return sizeof(MPI_Datatype);
    return array % 2 == 1 && cco_displs_are_wide(c) ? sizeof(MPI_Aint) : sizeof(int);
}

/* The length of an array of the call: a block for each rank, or for each neighbor of a side. */
static size_t length_of(const cco_problem *q, int array)
{
    const bool sent = array < 2 || array == 4;
    if (q->near == NULL)
        return (size_t)q->size;
    return (size_t)(sent ? q->near->degrees.out : q->near->degrees.in);
}

/* The bytes of a problem: sizes and places of both sides. */
static size_t problem_bytes(int blocks)
{
    return 4 * (size_t)blocks * sizeof(size_t);
}

bool cco_cached_call_has_arrays(const cco_cached_call *m, const cco_call *c)
{
    const void *arrays[ARRAYS];
    const char *copy = m->arrays + problem_bytes(m->blocks);
    call_cache_list_arrays(c, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        const size_t bytes = length_of(&m->problem, i) * element_of(c, i);
        if (m->kept >> i & 1 && (arrays[i] == NULL || memcmp(arrays[i], copy, bytes) != 0))
            return false;
        copy += (size_t)m->blocks * WIDEST;
    }
    return true;
}

/* The arrays that mean something on this rank: those that an end refers to. */
static unsigned call_cache_significant(const cco_bound *bound)
{
    const void *arrays[ARRAYS];
    unsigned found = 0;
    call_cache_list_arrays(bound->call, arrays);
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
static bool call_cache_lasting(const cco_buffer *end)
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
           call_cache_lasting(&bound->in) && call_cache_lasting(&bound->out) &&
           (!reduces || cco_op_predefined(c->op)) &&
           (!arrays || (!c->large && cco_most_blocks(&bound->problem) <= CCO_CACHED_CALL_BLOCKS));
}

/* Copies the arrays of a side to `at`; returns what is behind the room for them. */
static char *copy_side(cco_side *side, char *at, int room)
{
    const size_t bytes = (size_t)side->blocks * sizeof(size_t);
    const size_t all = (size_t)room * sizeof(size_t);
    if (side->n != NULL)
        side->n = memcpy(at, side->n, bytes);
    if (side->at != NULL)
        side->at = memcpy(at + all, side->at, bytes);
    return at + 2 * all;
}

/* Copies the arrays of the call and of its problem. */
static void copy_arrays(cco_cached_call *m, const cco_call *c)
{
    const void *arrays[ARRAYS];
    char *at = copy_side(&m->problem.in, m->arrays, m->blocks);
    at = copy_side(&m->problem.out, at, m->blocks);
    call_cache_list_arrays(c, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        if (m->kept >> i & 1)
            memcpy(at, arrays[i], length_of(&m->problem, i) * element_of(c, i));
        at += (size_t)m->blocks * WIDEST;
    }
}

/* Room for arrays of so many blocks, of a call that is written next.  Without memory all stays. */
static bool call_cache_make_room(cco_cached_call *m, int blocks)
{
    if (m->arrays != NULL && m->blocks >= blocks)
        return true;
    char *arrays = malloc(problem_bytes(blocks) + ARRAYS * (size_t)blocks * WIDEST);
    if (arrays == NULL)
        return false;
    free(m->arrays);
    m->arrays = arrays;
    m->blocks = blocks;
    return true;
}

/* Whether counts of both sides are one array the next call decides, which is compared by what is in
 * them: as if they were. */
static uintptr_t apart_of(const cco_call *c, int rank)
{
    const bool both = c->sendcounts != NULL && c->recvcounts != NULL && !cco_is_neighbor(c->coll);
    return both ? 0 : cco_alias_apart(c, rank);
}

bool cco_call_lasts(const cco_comm *state, const cco_call *c)
{
    const int properties = cco_coll_infos[c->coll].properties;
    cco_buffer in, out;
    if (properties & CCO_COUNTS || cco_is_neighbor(c->coll) ||
        (properties & CCO_REDUCTION && !cco_op_predefined(c->op)))
        return false;
    cco_bound_ends(state, c, &in, &out);
    return call_cache_lasting(&in) && call_cache_lasting(&out);
}

static void call_cache_write(cco_cached_call *m, const cco_call *c, uintptr_t apart)
{
    *m = (cco_cached_call){.call = *c,
                           .key = cco_cached_call_key(c->coll, c->root, c->large),
                           .kinds = {cco_buffer_kind(c->sendbuf), cco_buffer_kind(c->recvbuf)},
                           .apart = apart,
                           .set = true,
                           .blocks = m->blocks,
                           .arrays = m->arrays,
                           .marked = m->marked};
}

void cco_cached_call_write_arguments(cco_cached_call *m, int rank, const cco_call *c)
{
    call_cache_write(m, c, apart_of(c, rank));
}

bool cco_cached_call_write(cco_cached_call *m, unsigned drops, const cco_way *way,
                           const cco_bound *bound, cco_plan *plan)
{
    const cco_call *c = bound->call;
    const uintptr_t apart = apart_of(c, bound->problem.rank);
    if (!can_hold(bound) || (uintptr_t)c->sendbuf - (uintptr_t)c->recvbuf == apart)
        return false;
    const unsigned kept = call_cache_significant(bound);
    if (kept != 0 && !call_cache_make_room(m, cco_most_blocks(&bound->problem)))
        return false;
    call_cache_write(m, c, apart);
    m->way = *way;
    m->plan = plan;
    m->drops = drops;
    m->binding = bound->binding;
    m->problem = bound->problem;
    m->kept = kept;
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
    state->repeats[cco_cached_call_index(&m->call)] = cco_cached_call_repeat_by(m, own, repeat,
                                                                                state);
}

static int call_cache_run_marked(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                                 const cco_call *call)
{
    cco_comm *state = again->state;
    const cco_coll coll = again->cached->call.coll;
    cco_comm_mark mark = {&state->mark, cco_mark_held, cco_mark_of_thread(CCO_MARK_FREE)};
    int rc = MPI_SUCCESS;
    if (!cco_comm_mark_take(&mark, coll))
        rc = cco_comm_enter_again(&mark, state, coll);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = again->cached->marked(again, sendbuf, recvbuf, call);
    cco_comm_leave(&mark);
    return rc;
}

cco_repeat cco_cached_call_repeat_by(cco_cached_call *m, void *own, cco_repeat_run run,
                                     cco_comm *state)
{
    m->marked = run;
    return (cco_repeat){m, own, cco_comm_threads ? call_cache_run_marked : run, state};
}

void cco_cached_call_free(cco_cached_call *m)
{
    free(m->arrays);
    *m = (cco_cached_call){0};
}
