/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "recursive_doubling": in round k, exchange all there is with the rank 2^k away.
 *
 *   messages log2 p (+ 2)   bytes sent per rank n log2 p (+ n)   scratch n   operation: any
 *
 * Fewest rounds, for small n.  With p no power of two, the first 2(p - 2^m) ranks pair up before
 * and after; groups stay contiguous, so that the order of operands is that of ranks.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/combine.h"
#include "algo/pattern/cube.h"

/* The result of the first exchange is the first to be in `mine`: no copy is needed before. */
static bool is_written_by_first(const cco_problem *q, const cco_cube *cube)
{
    return q->size > 1 && cube->partner < 0 && !(cube->place & 1);
}

/* Nor after, as what comes may lie where the result will, unless this rank's operand does. */
static void exchange_first(cco_sched *s, int peer, cco_span in, cco_span got, cco_span mine)
{
    const cco_span theirs = in.base == mine.base ? got : mine;
    cco_send(s, peer, in);
    cco_recv(s, peer, theirs);
    cco_round(s);
    cco_reduce(s, in, theirs);
    cco_round(s);
    cco_copy(s, theirs, mine);
}

static void allreduce_recursive_doubling_build(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, 0);
    const cco_span in = cco_whole(&q->in), mine = cco_whole(&q->out);
    const cco_span got = cco_scratch(s, mine.n);

    if (!is_written_by_first(q, &cube))
        cco_copy(s, in, mine);
    cco_cube_fold(s, &cube, mine, got);
    for (int bit = 1; bit < cube.places && !cube.rests; bit *= 2) {
        const int peer = cco_cube_rank(&cube, cube.place ^ bit);
        const bool copied = bit > 1 || cube.partner >= 0; /* the first need not wait for that */
        if (!copied && !(cube.place & bit)) {
            exchange_first(s, peer, in, got, mine);
            continue;
        }
        if (copied)
            cco_round(s);
        cco_send(s, peer, copied ? mine : in);
        cco_recv(s, peer, got);
        cco_combine(s, got, mine, cube.place & bit);
    }
    cco_cube_unfold(s, &cube, mine);
}

const cco_algo cco_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "exchange everything with the rank 2^k away, in log2 p rounds",
    .build = allreduce_recursive_doubling_build,
};
