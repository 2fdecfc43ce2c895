/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "swing": reduce-scatter and allgather with peers that swing to both sides.
 *
 *   messages 2 log2 p   bytes sent per rank 2n(p-1)/p   scratch 2n   p: a power of two
 *   operation: commutative
 *
 * For large n on rings and tori: in no step do messages share a link with many others.
 * D. De Sensi, T. Bonato, D. Saam, T. Hoefler: Swing: Short-cutting rings for higher bandwidth
 * allreduce, NSDI 2024. */
#include "algo/algo.h"

static const char *allreduce_swing_refuses(const cco_problem *q)
{
    if ((q->size & (q->size - 1)) != 0)
        return "needs a power of two of processes";
    return q->commutative ? NULL : "needs a commutative operation";
}

/* The peer of a rank in step k: at distance (1 - (-2)^(k+1)) / 3, forward from even ranks. */
static int peer_of(const cco_problem *q, int rank, int step)
{
    int far = 1;
    for (int k = 0; k < step; k++)
        far = 1 - 2 * far;
    return (q->size + (rank & 1 ? rank - far : rank + far)) % q->size;
}

typedef enum action { PACK, UNPACK, REDUCE } action;

/* Does it with all parts that `rank` answers for from `step` on: its own, and those of its peers to
 * come.  Packed, they lie one after the other; returns their end. */
static size_t each_part(cco_sched *s, const cco_problem *q, action what, int rank, int step,
                        cco_span packed, size_t at)
{
    for (int k = step; 1 << k < q->size; k++)
        at = each_part(s, q, what, peer_of(q, rank, k), k + 1, packed, at);
    const cco_span part = cco_cut(s, q, cco_whole(&q->out), rank, q->size);
    const cco_span there = cco_part(s, packed, at, part.n);
    if (what == REDUCE)
        cco_reduce(s, there, part);
    else
        cco_copy(s, what == PACK ? part : there, what == PACK ? there : part);
    return at + part.n;
}

static size_t allreduce_swing_size_of(cco_sched *s, const cco_problem *q, int rank, int step)
{
    size_t n = cco_cut(s, q, cco_whole(&q->out), rank, q->size).n;
    for (int k = step; 1 << k < q->size; k++)
        n += allreduce_swing_size_of(s, q, peer_of(q, rank, k), k + 1);
    return n;
}

/* One step: to the peer go the parts of `give`, from it come those of `get`. */
static void allreduce_swing_exchange(cco_sched *s, const cco_problem *q, int step, bool gather,
                                     cco_span packed, cco_span got)
{
    const int me = q->rank, peer = peer_of(q, me, step);
    const int give = gather ? me : peer, get = gather ? peer : me;
    cco_round(s);
    const size_t n = each_part(s, q, PACK, give, step + 1, packed, 0);
    cco_round(s);
    cco_send(s, peer, cco_part(s, packed, 0, n));
    cco_recv(s, peer, cco_part(s, got, 0, allreduce_swing_size_of(s, q, get, step + 1)));
    cco_round(s);
    each_part(s, q, gather ? UNPACK : REDUCE, get, step + 1, got, 0);
}

static void allreduce_swing_build(cco_sched *s, const cco_problem *q)
{
    const cco_span all = cco_whole(&q->out);
    const cco_span packed = cco_scratch(s, all.n), got = cco_scratch(s, all.n);
    int steps = 0;
    while (1 << steps < q->size)
        steps++;
    cco_copy(s, cco_whole(&q->in), all);
    for (int k = 0; k < steps; k++)
        allreduce_swing_exchange(s, q, k, false, packed, got);
    for (int k = steps - 1; k >= 0; k--)
        allreduce_swing_exchange(s, q, k, true, packed, got);
}

const cco_algo cco_allreduce_swing = {
    .name = "swing",
    .doc = "reduce-scatter and allgather with peers that swing to both sides",
    .refuses = allreduce_swing_refuses,
    .build = allreduce_swing_build,
};
