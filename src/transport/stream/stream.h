/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - sends and receives by one-sided operations: what a rank sends to another is a stream
 * of bytes through a ring in an area.
 *
 * Both ranks know how long each message is, and take messages in the same order, so that nothing
 * but bytes, a head for each message (fragment.h) and two counters pass: how many bytes the sender
 * has given (`given`, in the receiver's share), and how many the receiver has taken (`taken`, in
 * the sender's).  A message longer than
 * the ring goes in pieces; a sender runs ahead by a ring.  The ring lies with the receiver, where
 * the sender puts, or with the sender, from where the receiver gets.  Messages may also go past the
 * rings, as a whole (shown.h) or piece by piece (blocks.h). */
#ifndef CCO_STREAM_H
#define CCO_STREAM_H

#include <stdbool.h>

#include "sched/transport.h"
#include "transport/stream/area.h"
#include "transport/stream/blocks.h"
#include "transport/stream/shown.h"

/* Bytes that this rank gave to a peer, and took from it, and of how many of either it has told.
 * Only their lower halves pass between ranks. */
typedef struct cco_stream_pair {
    uint64_t given, taken, given_told, taken_told;
    cco_shown shown;
    cco_stream_blocks_pair blocks;
    long moved_ns; /* when something of a message that may be shown moved last; 0: not yet */
} cco_stream_pair;

/* What the transfers of a communicator share. */
typedef struct cco_stream {
    cco_area *area;
    bool gets;   /* receivers get; otherwise senders put */
    size_t ring; /* bytes, for each ordered pair of ranks */
    cco_shown_rule shows;
    cco_stream_blocks blocks;
    cco_stream_pair *pairs;
    unsigned *stuck; /* twice the number of ranks: the pass in which a direction came no further */
    unsigned pass;
    uint64_t schedules;
    cco_unlike unlike; /* the first rank that made another call; `rank` of the communicator */
    bool broken;       /* a schedule was given up: where the streams are, nobody knows */
} cco_stream;

/* Bytes of a share that has rings of `ring` bytes for `size` ranks. */
size_t cco_stream_share(int size, size_t ring);

/* The largest rings that a share of `bytes` has room for; they have a least size, and may take
 * more.
 */
size_t cco_stream_ring(int size, size_t bytes);

/* Streams through a new area.  False when memory runs out. */
bool cco_stream_open(cco_stream *stream, cco_area *area, bool gets);
void cco_stream_close(cco_stream *stream); /* not the area */

/* Ends this rank's part with an error, which it returns; tells all, unless ranks have seats. */
int cco_stream_leave(cco_stream *stream, int error);

extern const cco_transport cco_transport_stream;

#endif
