/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "rabenseifner": recursive halving, then a binomial gather of the parts.
 *
 *   messages <= log2 p + 1   bytes sent per rank < 2n   scratch 2n, on the root n
 *   operation: commutative, or the root is the last rank
 *
 * For large n.  Ranks count from the one after the root, so that the root has the last place.
 * R. Rabenseifner: Optimization of collective reduction operations, ICCS 2004. */
#include "algo/algo.h"

#include "algo/pattern/cube.h"

static const char *reduce_rabenseifner_refuses(const cco_problem *q)
{
    const bool can = q->commutative || q->root == q->size - 1;
    return can ? NULL : "needs a commutative operation or the last rank as root";
}

static void reduce_rabenseifner_build(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, (q->root + 1) % q->size);
    const int place = cube.place;
    const cco_span in = cco_whole(&q->in);
    if (cube.rests) {
        cco_cube_fold(s, &cube, in, in);
        return;
    }
    const cco_span got = cco_scratch(s, in.n);
    const cco_span sum = q->rank == q->root ? cco_whole(&q->out) : cco_scratch(s, in.n);
    cco_copy(s, in, sum);
    cco_cube_fold(s, &cube, sum, got);
    cco_cube_halve(s, q, &cube, sum, got);
    for (int bit = cube.places; bit > 1; bit /= 2) { /* gather, towards the last place */
        const int other = place ^ bit / 2, peer = cco_cube_rank(&cube, other);
        cco_round(s);
        if (other & bit / 2) {
            cco_send(s, peer, cco_cube_range(s, q, &cube, sum, place, bit));
            return;
        }
        cco_recv(s, peer, cco_cube_range(s, q, &cube, sum, other, bit));
    }
}

const cco_algo cco_reduce_rabenseifner = {
    .name = "rabenseifner",
    .doc = "recursive halving, then a binomial gather of the parts",
    .refuses = reduce_rabenseifner_refuses,
    .build = reduce_rabenseifner_build,
};
