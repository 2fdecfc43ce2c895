/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall "chunked": chunk by chunk of every block, one message at a time.
 *
 *   messages (p-1) n/chunk, one a round   bytes sent per rank n(p-1)   scratch 0
 *
 * For the largest blocks: what a transport holds is bounded by the chunk.  `order` is that of peers
 * for each chunk: by distance, by distances shuffled alike on all ranks, or by exclusive or. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"

enum { DISTANCE, RANDOM, XOR }; /* order */

static bool usable(const cco_problem *q)
{
    (void)q;
    return true;
}

/* A permutation of 0 to n-1 that all ranks share: mixes within the next power of two until the
 * value is below n. */
static unsigned shuffled(unsigned x, unsigned n, unsigned key)
{
    unsigned mask = 1;
    while (mask < n)
        mask = 2 * mask + 1;
    do /* the same permutation again, until it leads below n: that is one too */
        for (int bits = 0; bits < 8; bits += 2) {
            x = (x + (key >> bits)) * 0x2c1b3c6du & mask;
            x ^= x >> 1;
        }
    while (x >= n);
    return x;
}

static void build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const long chunk = q->params[0], order = q->params[1];
    const unsigned seed = (unsigned)q->params[2];
    const int end = order == XOR ? 2 * p : p; /* with XOR, some turns have no peer */
    cco_copy(s, cco_block(q, &q->in, me), cco_block(q, &q->out, me));
    for (size_t i = 0; i < cco_pieces(q, q->bytes, chunk); i++)
        for (int k = 1; k < end; k++) {
            const unsigned turn = (unsigned)k - 1, n = (unsigned)p - 1;
            const int far = order == RANDOM ? 1 + (int)shuffled(turn, n, seed + (unsigned)i) : k;
            const int to = order == XOR ? me ^ k : (me + far) % p;
            const int from = order == XOR ? me ^ k : (me - far + p) % p;
            cco_round(s);
            if (to >= p)
                continue;
            cco_send(s, to, cco_piece(s, q, cco_block(q, &q->in, to), i, chunk));
            cco_recv(s, from, cco_piece(s, q, cco_block(q, &q->out, from), i, chunk));
        }
}

const cco_algo cco_alltoall_chunked = {
    .name = "chunked",
    .doc = "chunk by chunk of every block, one message at a time",
    .usable = usable,
    .build = build,
    .params = {{"chunk", 65536, 1, 1 << 30, "bytes of a chunk"},
               {"order", 0, 0, 2, "0 by distance, 1 shuffled, 2 exclusive or"},
               {"seed", 1, 0, 1 << 30, "of the shuffled order"}},
};
