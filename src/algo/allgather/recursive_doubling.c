/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather "recursive_doubling": exchange everything with the rank 2^k away, in log2 p rounds.
 *
 *   messages log2 p (+ 2)   bytes sent per rank n(p-1) (+ n(p-1))   scratch 0
 *
 * Few rounds.  With p no power of two, the first 2(p - 2^m) ranks pair up before and after.
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in
 * MPICH, Int. J. High Perform. Comput. Appl. 19 (2005). */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/cube.h"

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

/* The blocks of the ranks that a run of places stands for. */
static cco_span of_places(const cco_problem *q, const cco_cube *cube, int first, int count)
{
    return cco_run(q, &q->out, cco_cube_first(cube, first), cco_cube_first(cube, first + count));
}

static void build(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, 0);
    const cco_side *out = &q->out;
    const cco_span mine = cco_whole(&q->in);
    if (cube.rests)
        cco_send(s, cube.partner, mine);
    else if (cube.partner >= 0)
        cco_recv(s, cube.partner, cco_block(q, out, cube.partner));
    cco_copy(s, mine, cco_block(q, out, q->rank));
    for (int bit = 1; bit < cube.places && !cube.rests; bit *= 2) {
        const int other = cube.place ^ bit, peer = cco_cube_rank(&cube, other);
        cco_round(s);
        cco_send(s, peer, of_places(q, &cube, cube.place & -bit, bit));
        cco_recv(s, peer, of_places(q, &cube, other & -bit, bit));
    }
    cco_round(s);
    if (cube.rests) { /* all but its own */
        cco_recv(s, cube.partner, cco_run(q, out, 0, q->rank));
        cco_recv(s, cube.partner, cco_run(q, out, q->rank + 1, q->size));
    } else if (cube.partner >= 0) {
        cco_send(s, cube.partner, cco_run(q, out, 0, cube.partner));
        cco_send(s, cube.partner, cco_run(q, out, cube.partner + 1, q->size));
    }
}

const cco_algo cco_allgather_recursive_doubling = {
    .name = "recursive_doubling",
    .doc = "exchange everything with the rank 2^k away, in log2 p rounds",
    .usable = usable,
    .build = build,
};
