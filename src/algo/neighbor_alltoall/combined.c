/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_alltoall, neighbor_alltoallv, neighbor_alltoallw "combined": what goes from one rank to
 * another on several edges is one message.
 *
 *   messages 1 per neighbouring rank   bytes sent per rank all blocks   scratch 2n of such edges
 *
 * Both ranks know the blocks between them, and so whether these are more than `most` bytes, which
 * go as messages of their own: copying them would take longer, and Open MPI sends messages of a
 * node at once that fit into 4 KiB with their header; others take three times as long.  Nobody else
 * need know. */
#include "algo/algo.h"

#include "algo/pattern/near.h"

static const char *refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

static cco_span block_of(const cco_problem *q, bool given, int block)
{
    return given ? cco_near_given(q, block) : cco_block(q, &q->out, block);
}

/* The bytes of the message that edges have in common; 0 if each has its own. */
static size_t common(const cco_problem *q, const cco_near_edges *edges, bool given)
{
    size_t n = 0;
    int full = 0;
    for (int i = 0; i < edges->count; i++) {
        const size_t block = block_of(q, given, edges->blocks[i]).n;
        n += block;
        full += block > 0;
    }
    return full > 1 && n <= (size_t)q->params[0] ? n : 0;
}

/* All that common messages take one after the other. */
static size_t all_common(const cco_problem *q, const cco_near_edges *edges, bool given)
{
    size_t n = 0;
    for (; edges->count > 0; edges++)
        n += common(q, edges, given);
    return n;
}

/* Copies blocks to common messages, or back. */
static void copy_common(cco_sched *s, const cco_problem *q, const cco_near_edges *edges, bool given,
                        cco_span room)
{
    size_t at = 0;
    for (; edges->count > 0; edges++)
        for (int i = 0; common(q, edges, given) > 0 && i < edges->count; i++) {
            const cco_span block = block_of(q, given, edges->blocks[i]);
            const cco_span there = cco_part(s, room, at, block.n);
            cco_copy(s, given ? block : there, given ? there : block);
            at += block.n;
        }
}

static void pass(cco_sched *s, int peer, cco_span span, bool given)
{
    if (given)
        cco_send(s, peer, span);
    else
        cco_recv(s, peer, span);
}

static void exchange(cco_sched *s, const cco_problem *q, const cco_near_edges *edges, bool given,
                     cco_span room)
{
    size_t at = 0;
    for (; edges->count > 0; edges++) {
        const size_t n = common(q, edges, given);
        if (n > 0)
            pass(s, edges->peer, cco_part(s, room, at, n), given);
        for (int i = 0; n == 0 && i < edges->count; i++)
            pass(s, edges->peer, block_of(q, given, edges->blocks[i]), given);
        at += n;
    }
}

static void build(cco_sched *s, const cco_problem *q)
{
    const cco_near_edges *out = cco_near_by_peer(s, q, true), *in = cco_near_by_peer(s, q, false);
    if (out == NULL || in == NULL)
        return;
    const size_t give = all_common(q, out, true), get = all_common(q, in, false);
    const cco_span given = cco_scratch(s, give), got = cco_scratch(s, get);
    if (give > 0) {
        copy_common(s, q, out, true, given);
        cco_round(s);
    }
    exchange(s, q, in, false, got);
    exchange(s, q, out, true, given);
    cco_near_loops(s, q);
    if (get > 0) {
        cco_round(s);
        copy_common(s, q, in, false, got);
    }
}

const cco_algo cco_neighbor_alltoall_combined = {
    .name = "combined",
    .doc = "what goes to one rank on several edges is one message",
    .refuses = refuses,
    .build = build,
    .params = {{"most", 4000, 0, 1 << 30, "bytes between two ranks, in one message"}},
};
