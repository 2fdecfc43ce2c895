/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall "bruck": blocks hop by the digits of their distance to base k.
 *
 *   messages <= (k-1) ceil(log_k p)   bytes sent per rank about n(p-1)(k-1)/k ceil(log_k p)
 *   scratch 3np
 *
 * Few rounds, for small n.
 * J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms for all-to-all
 * communications in multiport message-passing systems, IEEE Trans. Parallel Distrib. Syst. 8
 * (1997). */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

static cco_span alltoall_bruck_blocks(cco_sched *s, const cco_problem *q, cco_span all, int first,
                                      int count)
{
    return cco_part(s, all, (size_t)first * q->bytes, (size_t)count * q->bytes);
}

/* Copies the blocks whose digit of weight `weight` is not 0 from their places to one run, sorted by
 * this digit, or back. */
static void alltoall_bruck_pack(cco_sched *s, const cco_problem *q, cco_span all, cco_span run,
                                int weight, bool back)
{
    const int k = (int)q->params[0];
    int at = 0;
    for (int digit = 1; digit < k; digit++)
        for (int i = 1; i < q->size; i++)
            if (i / weight % k == digit) {
                const cco_span block = alltoall_bruck_blocks(s, q, all, i, 1),
                               there = alltoall_bruck_blocks(s, q, run, at++, 1);
                cco_copy(s, back ? there : block, back ? block : there);
            }
}

/* How many have a digit there. */
static int alltoall_bruck_having(const cco_problem *q, int weight, int digit)
{
    const int k = (int)q->params[0];
    int count = 0;
    for (int i = 1; i < q->size; i++)
        count += i / weight % k == digit;
    return count;
}

static void alltoall_bruck_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, k = (int)q->params[0];
    const size_t n = (size_t)p * q->bytes;
    const cco_span all = cco_scratch(s, n), give = cco_scratch(s, n), got = cco_scratch(s, n);

    cco_copy(s, cco_run(q, &q->in, me, p),
             alltoall_bruck_blocks(s, q, all, 0, p - me)); /* by distance */
    cco_copy(s, cco_run(q, &q->in, 0, me), alltoall_bruck_blocks(s, q, all, p - me, me));
    for (int weight = 1; weight < p; weight *= k) {
        int at = 0;
        cco_round(s);
        alltoall_bruck_pack(s, q, all, give, weight, false);
        cco_round(s);
        for (int digit = 1; digit < k; digit++) {
            const int far = digit * weight, count = alltoall_bruck_having(q, weight, digit);
            cco_send(s, (me + far) % p, alltoall_bruck_blocks(s, q, give, at, count));
            cco_recv(s, (me - far % p + p) % p, alltoall_bruck_blocks(s, q, got, at, count));
            at += count;
        }
        cco_round(s);
        alltoall_bruck_pack(s, q, all, got, weight, true);
    }
    cco_round(s);
    for (int i = 0; i < p; i++)
        cco_copy(s, alltoall_bruck_blocks(s, q, all, i, 1), cco_block(q, &q->out, me - i));
}

const cco_algo cco_alltoall_bruck = {
    .name = "bruck",
    .doc = "blocks hop by the digits of their distance to base k",
    .build = alltoall_bruck_build,
    .params = {{"k", 2, 2, 64, "radix"}},
};
