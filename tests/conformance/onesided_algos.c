/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided_algos.c - see onesided.h.  They are short, not fast. */
#include "onesided.h"

fault onesided_fault;

static bool is(fault f)
{
    return onesided_fault == f;
}

/* All blocks of a side whose blocks lie one after the other; an empty span where it has none. */
static cco_span all_blocks(const cco_side *side)
{
    return (cco_span){side->base, side->layout, side->start, (size_t)side->blocks * side->each};
}

static int modulo(int i, int p)
{
    return (i % p + p) % p;
}

/* Tells all others, and hears of all of them. */
static void meet(cco_sched *s, const cco_problem *q)
{
    for (int k = 1; k < q->size; k++)
        cco_notify(s, (q->rank + k) % q->size);
    for (int k = 1; k < q->size; k++)
        cco_await(s, modulo(q->rank - k, q->size));
}

/* Allgather: in step k the block of the rank k before goes on to the right. */
static void ring(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, right = (me + 1) % p, left = modulo(me - 1, p);
    const int slot = cco_expose(s, all_blocks(&q->out));
    if (is(UNEQUAL) && me == p - 1)
        cco_expose(s, all_blocks(&q->out));
    cco_copy(s, cco_whole(&q->in), cco_block(q, &q->out, me));
    if (p == 1)
        return;
    if (!is(NOT_OPEN)) {
        cco_notify(s, left);
        cco_await(s, right);
    }
    for (int k = 0; k < p - 1; k++) {
        const int which = modulo(me - k, p);
        const size_t place = (size_t)which * q->out.each;
        const bool last = k == p - 2;
        if (!is(EARLY_READ) || k == 0)
            cco_round(s);
        cco_put(s, right, cco_block(q, &q->out, which), is(SLOT) ? 1 : slot,
                is(OUTSIDE) && last ? (size_t)p * q->out.each - q->out.each / 2 : place);
        if (is(SELF))
            cco_put(s, me, cco_block(q, &q->out, which), slot, place);
        if (is(TWICE) && last) {
            cco_round(s);
            cco_put(s, right, cco_block(q, &q->out, which), slot, place);
        }
        if (!is(EARLY_NOTIFY))
            cco_round(s);
        if (is(LATE_EXPOSE))
            cco_expose(s, all_blocks(&q->out));
        if (!is(NO_NOTIFY) || !last || me != 0)
            cco_notify(s, right);
        if (is(SECOND_NOTIFY) && last)
            cco_notify(s, right);
        if (!is(NO_AWAIT) || !last)
            cco_await(s, left);
    }
}

/* Barrier: nothing but notifications. */
static void dissemination(cco_sched *s, const cco_problem *q)
{
    const int end = is(SHORT) ? (q->size + 1) / 2 : q->size;
    for (int far = 1; far < end; far *= 2) {
        cco_round(s);
        cco_notify(s, (q->rank + far) % q->size);
        cco_await(s, modulo(q->rank - far, q->size));
    }
}

/* Alltoall: everyone fetches its block of everyone.  That all have done so goes round by way of
 * others. */
static void pull(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const int slot = cco_expose(s, all_blocks(&q->in));
    meet(s, q);
    cco_copy(s, cco_block(q, &q->in, me), cco_block(q, &q->out, me));
    if (!is(NOT_OPEN))
        cco_round(s);
    for (int k = 1; k < p; k++) {
        const int peer = (me + k) % p;
        cco_get(s, peer, slot, (size_t)me * q->in.each,
                cco_block(q, &q->out, is(SAME_PLACE) ? me + 1 : peer));
    }
    if (is(LEAVE))
        return;
    dissemination(s, q);
}

/* Bcast: a binomial tree; children say when they are there. */
static void tree(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = modulo(q->rank - q->root, p);
    const int slot = cco_expose(s, cco_whole(&q->out));
    int high = 1;
    while (me & ~(high - 1)) /* high: above the highest bit of me */
        high *= 2;
    const int parent = (me - high / 2 + q->root) % p;
    if (me > 0) {
        cco_notify(s, parent);
        cco_await(s, parent);
    }
    for (int far = high; me + far < p; far *= 2)
        cco_await(s, (me + far + q->root) % p);
    cco_round(s);
    for (int far = high; me + far < p; far *= 2)
        cco_put(s, (me + far + q->root) % p, cco_whole(&q->out), slot, 0);
    cco_round(s);
    for (int far = high; me + far < p; far *= 2)
        cco_notify(s, (me + far + q->root) % p);
}

/* Bcast: pieces go from rank to rank by way of a slot with room for two. */
static void chain(cco_sched *s, const cco_problem *q)
{
    enum { PIECES = 7, ROOM = 2 };
    const int p = q->size, me = modulo(q->rank - q->root, p);
    const int next = (q->rank + 1) % p, before = modulo(q->rank - 1, p);
    const cco_span whole = cco_whole(&q->out);
    const size_t most = cco_cut(s, q, whole, 0, PIECES).n;
    const cco_span scratch = cco_scratch(s, ROOM * most);
    const int slot = cco_expose(s, me > 0 ? scratch : (cco_span){0});
    for (int i = 0; i < ROOM && me > 0; i++)
        cco_notify(s, before); /* so many are free */
    for (int k = 0; k < PIECES; k++) {
        const cco_span piece = cco_cut(s, q, whole, k, PIECES);
        const size_t place = (size_t)(k % ROOM) * most;
        const cco_span room = cco_part(s, scratch, place, piece.n);
        if (me > 0)
            cco_await(s, before);
        if (me < p - 1 && !(is(OVERWRITE) && k >= ROOM))
            cco_await(s, next);
        if (!is(EARLY_READ) || me < p - 1 || k < ROOM)
            cco_round(s);
        if (me > 0)
            cco_copy(s, room, piece);
        if (me < p - 1)
            cco_put(s, next, me > 0 ? room : piece, slot, place);
        cco_round(s);
        if (me > 0 && k + ROOM < PIECES && !is(OVERWRITE))
            cco_notify(s, before);
        if (me < p - 1)
            cco_notify(s, next);
    }
}

/* Reduce: all put their vector into a slot of the root, which has one of nobody else. */
static void collect(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const bool root = me == q->root;
    const cco_span all = cco_scratch(s, root ? (size_t)p * q->bytes : 0);
    const int slot = cco_expose(s, root ? all : (cco_span){0});
    if (!root) {
        cco_await(s, q->root);
        cco_round(s);
        cco_put(s, q->root, cco_whole(&q->in), slot, (size_t)me * q->bytes);
        cco_round(s);
        if (is(INDIRECT) && me == 2)
            cco_await(s, 1);
        cco_round(s);
        cco_notify(s, is(INDIRECT) && me == 1 ? 2 : q->root);
        return;
    }
    cco_copy(s, cco_whole(&q->in), cco_part(s, all, (size_t)me * q->bytes, q->bytes));
    for (int i = 0; i < p; i++)
        if (i != me) {
            cco_notify(s, i);
            if (!is(INDIRECT) || i != 1)
                cco_await(s, i);
        }
    for (int i = p - 2; i >= 0; i--) {
        cco_round(s);
        cco_reduce(s, cco_part(s, all, (size_t)i * q->bytes, q->bytes),
                   cco_part(s, all, (size_t)(p - 1) * q->bytes, q->bytes));
    }
    cco_round(s);
    cco_copy(s, cco_part(s, all, (size_t)(p - 1) * q->bytes, q->bytes), cco_whole(&q->out));
}

/* Allreduce: others fetch what rank 0 has reduced from messages.  Rank 0 keeps it in scratch, which
 * it uses again when all have it. */
static void mixed(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span sum = cco_scratch(s, q->bytes), heard = cco_scratch(s, q->bytes);
    const int slot = cco_expose(s, sum);
    if (me > 0) {
        cco_send(s, 0, cco_whole(&q->in));
        cco_await(s, 0);
        cco_round(s);
        cco_get(s, 0, slot, 0, cco_whole(&q->out));
        cco_round(s);
        cco_notify(s, 0);
        return;
    }
    for (int i = p - 1; i >= 0; i--) {
        if (i > 0)
            cco_recv(s, i, i == p - 1 ? sum : heard);
        else
            cco_copy(s, cco_whole(&q->in), p == 1 ? sum : heard);
        cco_round(s);
        if (i < p - 1)
            cco_reduce(s, heard, sum);
        cco_round(s);
    }
    for (int i = 1; i < p; i++)
        cco_notify(s, i);
    cco_copy(s, sum, cco_whole(&q->out));
    cco_round(s);
    for (int i = 1; i < p; i++)
        cco_await(s, i); /* that it has fetched */
    if (!is(REUSE))
        cco_round(s);
    if (p > 1)
        cco_copy(s, heard, sum);
}

const onesided_algo onesided_algos[] = {
    [RING] = {CCO_ALLGATHER, "ring", ring},
    [PULL] = {CCO_ALLTOALL, "pull", pull},
    [TREE] = {CCO_BCAST, "tree", tree},
    [CHAIN] = {CCO_BCAST, "chain", chain},
    [COLLECT] = {CCO_REDUCE, "collect", collect},
    [DISSEMINATION] = {CCO_BARRIER, "dissemination", dissemination},
    [MIXED] = {CCO_ALLREDUCE, "mixed", mixed},
};
