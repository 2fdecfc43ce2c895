/* SPDX-License-Identifier: BSD-3-Clause */
/* memo.c - see memo.h. */
#include "model/memo.h"

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

bool cco_memo_has_arrays(const cco_memo *m, const cco_call *c)
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
static unsigned significant(const cco_frame *frame)
{
    const void *arrays[ARRAYS];
    unsigned found = 0;
    list_arrays(frame->call, arrays);
    for (int i = 0; i < ARRAYS; i++)
        for (int k = 0; k < 2; k++) {
            const cco_end *end = k == 0 ? &frame->in : &frame->out;
            const bool is = arrays[i] != NULL && end->blocks > 0 &&
                            (arrays[i] == end->counts || arrays[i] == end->displs ||
                             arrays[i] == end->types);
            found |= (unsigned)is << i;
        }
    return found;
}

/* The types of an end that the call does not use may be anything. */
static bool lasting(const cco_end *end)
{
    bool all = end->types != NULL || end->blocks == 0 || cco_type_predefined(end->type);
    for (int i = 0; i < end->blocks && end->types != NULL && all; i++)
        all = cco_type_predefined(end->types[i]);
    return all;
}

static bool can_hold(const cco_frame *frame)
{
    const cco_call *c = frame->call;
    const bool reduces = cco_coll_infos[c->coll].properties & CCO_REDUCTION;
    const bool arrays = frame->in.counts != NULL || frame->out.counts != NULL;
    return !frame->packs_in && !frame->packs_out && frame->problem.counts == NULL &&
           lasting(&frame->in) && lasting(&frame->out) && (!reduces || cco_op_predefined(c->op)) &&
           (!arrays || (!c->large && frame->problem.size <= CCO_MEMO_RANKS));
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
static void copy_arrays(cco_memo *m, const cco_call *c)
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

bool cco_memo_write(cco_memo *m, unsigned drops, const cco_way *way, const cco_frame *frame,
                    cco_plan *plan)
{
    const cco_call *c = frame->call;
    char *arrays = m->arrays;
    if (!can_hold(frame))
        return false;
    const unsigned kept = significant(frame);
    if (kept != 0 && arrays == NULL && (arrays = malloc(arrays_bytes(frame->problem.size))) == NULL)
        return false;
    *m = (cco_memo){.call = *c,
                    .send_in_place = c->sendbuf == MPI_IN_PLACE,
                    .recv_in_place = c->recvbuf == MPI_IN_PLACE,
                    .way = *way,
                    .set = true,
                    .plan = plan,
                    .drops = drops,
                    .binding = frame->binding,
                    .problem = frame->problem,
                    .kept = kept,
                    .arrays = arrays};
    m->problem.layouts = m->binding.layouts;
    if (kept != 0)
        copy_arrays(m, c);
    return true;
}

void cco_memo_empty(cco_memo *m)
{
    free(m->arrays);
    *m = (cco_memo){0};
}
