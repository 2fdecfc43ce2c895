/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - blocks of memory in which pieces of long messages of a stream pass from hand to hand.
 *
 * Who writes into a line that another core has read must take the line from that core first, which
 * takes longer than the copy.  So a sender writes a piece into a block that it holds, and passes
 * the block; the receiver reads the piece, and holds the block from then on, for what it sends
 * next.  Ranks that send to each other thus write into what they have read.  Each begins with
 * some in its own share, where the ring of a rank to itself would be: no rank sends to itself.
 * A sender that holds none uses the ring.  So data that go one way use up the blocks, and nobody
 * waits for one.  For areas with `shares`.
 *
 * A block comes between two bytes of the ring, at a place that both ranks count.  How long its
 * piece is, both know: what is left of the message, or the whole block. */
#ifndef CCO_STREAM_BLOCKS_H
#define CCO_STREAM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/stream/area.h"
#include "transport/stream/line.h"

enum {
    CCO_STREAM_BLOCKS_LEAST = 4 << 10, /* bytes of a message whose next piece goes in a block, */
    CCO_STREAM_BLOCKS_MOST = 16 << 10, /* and of a block */
    CCO_STREAM_BLOCKS_UNREAD = CCO_LINE_BLOCKS, /* blocks on their way to one rank */
};

/* The blocks that a rank holds. */
typedef struct cco_stream_blocks {
    size_t bytes; /* of each; 0: there are none */
    size_t first; /* byte of a share at which the ring for rank 0 begins, */
    size_t ring;  /* and bytes to the next */
    int held;
    uint16_t *list; /* the last one read last: rank of the share times CCO_STREAM_BLOCKS_UNREAD,
                       plus the number there */
} cco_stream_blocks;

/* Blocks passed to a peer, those taken from it, and how many of these it knows of. */
typedef struct cco_stream_blocks_pair {
    uint32_t passed, taken, taken_told;
} cco_stream_blocks_pair;

/* `first`, `ring`: of each share.  False when memory runs out. */
bool cco_stream_blocks_open(cco_stream_blocks *blocks, const cco_area *area, size_t first,
                            size_t ring);
void cco_stream_blocks_close(cco_stream_blocks *blocks);

/* True if the next piece for the peer may go in a block. */
static inline bool cco_stream_blocks_ready(const cco_stream_blocks *blocks,
                                           const cco_stream_blocks_pair *pair, const cco_area *area,
                                           int peer)
{
    const uint32_t taken = cco_line_word(area, peer, CCO_LINE_BLOCKS_TAKEN);
    return blocks->held > 0 && pair->passed - taken < CCO_STREAM_BLOCKS_UNREAD;
}

/* Passes it: `n` bytes, after byte `at` of the ring.  Returns MPI_SUCCESS or an MPI error class,
 * as the others do. */
int cco_stream_blocks_pass(cco_stream_blocks *blocks, cco_stream_blocks_pair *pair, cco_area *area,
                           int peer, uint32_t at, const char *from, size_t n);

/* Whether a block has come from the peer, and after which byte of the ring.  All that came before
 * what this rank has seen of the ring is seen. */
bool cco_stream_blocks_next(const cco_stream_blocks_pair *pair, const cco_area *area, int peer,
                            uint32_t *at);

/* Reads `n` bytes of it, all that it has, and holds it. */
int cco_stream_blocks_take(cco_stream_blocks *blocks, cco_stream_blocks_pair *pair, cco_area *area,
                           int peer, char *to, size_t n);

#endif
