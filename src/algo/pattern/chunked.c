/* SPDX-License-Identifier: BSD-3-Clause */
/* chunked.c - see chunked.h. */
#include "algo/pattern/chunked.h"

#include "algo/pattern/blocks.h"
#include "sched/step.h"

enum { DISTANCE, RANDOM, XOR }; /* order */

/* A permutation of 0 to n-1 that all ranks share: mixes within the next power of two until the
 * value is below n. */
static unsigned pattern_chunked_shuffled(unsigned x, unsigned n, unsigned key)
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

/* Chunk `i` of a block; nothing if the block is shorter.  `*ends`: an empty message says so, since
 * the chunk before is a whole one, as a longer block has it. */
static cco_span chunk_of(cco_sched *s, const cco_problem *q, cco_span block, size_t i, long chunk,
                         bool *ends)
{
    const size_t pieces = cco_pieces(q, block.n, chunk);
    *ends = q->empties && i == pieces && i > 0 && cco_pieces(q, block.n + 1, chunk) > i;
    return i < pieces ? cco_piece(s, q, block, i, chunk) : cco_part(s, block, 0, 0);
}

/* Chunk by chunk and turn by turn: all ranks have their messages in one order, so that the first of
 * those still to come can always go, wherever ranks stop. */
void cco_chunked_exchange(cco_sched *s, const cco_problem *q, long chunk, long order, long seed)
{
    const int p = q->size, me = q->rank;
    const int end = order == XOR ? 2 * p : p; /* the ranks below p are me ^ k with k below 2p */
    bool any = true;
    cco_copy(s, cco_block(q, &q->in, me), cco_block(q, &q->out, me));
    for (size_t i = 0; any; i++) {
        any = false;
        for (int k = 1; k < end; k++) {
            const unsigned turn = (unsigned)k - 1, n = (unsigned)p - 1;
            const unsigned key = (unsigned)seed + (unsigned)i;
            const int far = order == RANDOM ? 1 + (int)pattern_chunked_shuffled(turn, n, key) : k;
            const int to = order == XOR ? me ^ k : (me + far) % p;
            const int from = order == XOR ? me ^ k : (me - far + p) % p;
            if (to >= p)
                continue;
            bool gives, gets;
            const cco_span give = chunk_of(s, q, cco_block(q, &q->in, to), i, chunk, &gives);
            const cco_span get = chunk_of(s, q, cco_block(q, &q->out, from), i, chunk, &gets);
            cco_round(s);
            s->empties = gives;
            cco_send(s, to, give);
            s->empties = gets;
            cco_recv(s, from, get);
            any = any || give.n + get.n > 0;
        }
    }
}
