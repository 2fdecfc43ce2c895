/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "rabenseifner": recursive halving, then recursive doubling of the parts.
 *
 *   messages 2 log2 p (+ 2)   bytes sent per rank < 2n (+ n)   scratch n   operation: any
 *
 * For large n, in few rounds.  Neighbors exchange most, and first; so the order of operands is
 * that of ranks.
 * R. Rabenseifner: Optimization of collective reduction operations, ICCS 2004. */
#include "algo/algo.h"

#include "algo/pattern/cube.h"

static void allreduce_rabenseifner_build(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, 0);
    const cco_span all = cco_whole(&q->out), got = cco_scratch(s, all.n);

    cco_copy(s, cco_whole(&q->in), all);
    cco_cube_fold(s, &cube, all, got);
    if (!cube.rests)
        cco_cube_halve(s, q, &cube, all, got);
    for (int bit = cube.places; bit > 1 && !cube.rests; bit /= 2) { /* allgather */
        const int other = cube.place ^ bit / 2, peer = cco_cube_rank(&cube, other);
        cco_round(s);
        cco_send(s, peer, cco_cube_range(s, q, &cube, all, cube.place, bit));
        cco_recv(s, peer, cco_cube_range(s, q, &cube, all, other, bit));
    }
    cco_cube_unfold(s, &cube, all);
}

const cco_algo cco_allreduce_rabenseifner = {
    .name = "rabenseifner",
    .doc = "recursive halving, then recursive doubling of the parts",
    .build = allreduce_rabenseifner_build,
};
