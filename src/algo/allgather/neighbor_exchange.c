/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather "neighbor_exchange": pairs of blocks go both ways between neighbours.
 *
 *   messages p/2   bytes sent per rank n(p-1)   scratch 0   p: even
 *
 * Half the rounds of the ring.
 * J. Chen, L. Zhang, Y. Zhang, W. Yuan: Performance evaluation of allgather algorithms on terascale
 * Linux cluster with Fast Ethernet, HPC Asia 2005. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

static bool usable(const cco_problem *q)
{
    return q->size % 2 == 0;
}

/* The blocks 2 `pair` and 2 `pair` + 1, counted round. */
static cco_span blocks(const cco_problem *q, int pair)
{
    return cco_run(q, &q->out, 2 * pair, 2 * pair + 2);
}

/* Which pair a rank gets in a step: from either side in turn, every second time from farther. */
static int pair_of(int rank, int step)
{
    const int far = step % 2 == 0 ? step / 2 : -(step / 2 + 1);
    return rank / 2 + (rank % 2 == 0 ? far : -far);
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, twin = me ^ 1;
    cco_copy(s, cco_whole(&q->in), cco_block(q, &q->out, me));
    cco_round(s);
    cco_send(s, twin, cco_block(q, &q->out, me));
    cco_recv(s, twin, cco_block(q, &q->out, twin));
    for (int step = 1; step < p / 2; step++) {
        const bool to_next = step % 2 == me % 2;
        const int peer = to_next ? (me + 1) % p : (me + p - 1) % p;
        cco_round(s);
        cco_send(s, peer, blocks(q, pair_of(me, step - 1)));
        cco_recv(s, peer, blocks(q, pair_of(me, step)));
    }
}

const cco_algo cco_allgather_neighbor_exchange = {
    .name = "neighbor_exchange",
    .doc = "pairs of blocks go both ways between neighbours",
    .usable = usable,
    .build = build,
};
