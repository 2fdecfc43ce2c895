/* SPDX-License-Identifier: BSD-3-Clause */
/* shown.h - messages of a stream that are copied once: instead of giving a message through the
 * ring, or what is left of one, the sender shows where it lies, and the receiver reads it there by
 * the kernel (base/process_read.h).  For areas with `shares`.
 *
 * The sender decides, message by message.  It shows one when all before it are given, and nothing
 * more goes to that peer until this one is read.  So a receiver that finds nothing in the ring, but
 * a message shown, knows that it is the one it waits for.  What it cannot read, it refuses; then
 * the sender gives what it showed through the ring, and shows no more.  Nobody ever waits here. */
#ifndef CCO_SHOWN_H
#define CCO_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/stream/area.h"
#include "transport/stream/fragment.h"
#include "transport/stream/line.h"

enum {
    CCO_SHOWN_LEAST = 16 << 10, /* bytes of a message, */
    CCO_SHOWN_MOST = 256 << 10, /* and of a read: who polls has other things to do, too */
};

/* Messages are shown from so many bytes on, and what is left of them, when nothing of it could go
 * through memory for so long.  0 bytes: none. */
typedef struct cco_shown_rule {
    size_t from;
    long after_ns;
} cco_shown_rule;

/* All for which it is possible, at once. */
#define CCO_SHOWN_ALL ((cco_shown_rule){CCO_SHOWN_LEAST, 0})

/* Those for which a read is faster, by measurements (docs/lab/design-notes.md).  While both ranks
 * move a message, it goes through memory in less time.  If the receiver or the sender computes
 * meanwhile, or their turns on a core come far apart, each filling of what lies between them takes
 * a turn. */
static inline cco_shown_rule cco_shown_pays(bool crowded)
{
    enum { FROM = 128 << 10, STALL_NS = 100000 }; /* some times what a filling takes */
    return (cco_shown_rule){FROM, crowded ? 0 : STALL_NS};
}

/* What a rank knows of a peer. */
typedef struct cco_shown {
    uint32_t shown; /* messages to the peer, */
    uint32_t read;  /* and those from it that are read or refused */
    bool waits;     /* the last one to the peer is not */
    size_t rest;    /* bytes of the one from the peer, when it was shown; 0: nothing is read yet */
    bool refused;   /* the peer has refused one, and will refuse all */
} cco_shown;

/* Tells the others who this rank is.  Before it shows any message. */
void cco_shown_open(cco_area *area);

/* True if the kernel lets this rank read in the processes of all others, which have opened. */
bool cco_shown_readable(const cco_area *area);

/* Shows what is left of a message, when the peer knows of all that is in the ring.  Returns
 * MPI_SUCCESS or an MPI error class, as the others do. */
int cco_shown_show(cco_shown *shown, cco_area *area, const cco_fragment *message);

/* Afterwards: looks whether it is read, and nothing is left of it, or refused. */
int cco_shown_look(cco_shown *shown, const cco_area *area, cco_fragment *message);

/* Shows it no longer: what the peer is reading does not count, and what it has read is no other. */
void cco_shown_withdraw(cco_shown *shown, cco_area *area, int peer);

/* True if the peer shows a message.  It is the next one if nothing was in the ring afterwards. */
static inline bool cco_shown_waits(const cco_shown *shown, const cco_area *area, int peer)
{
    return (int32_t)(cco_line_word(area, peer, CCO_LINE_SHOWN) - shown->read) > 0;
}

/* Reads that message, or a part of it. */
int cco_shown_take(cco_shown *shown, cco_area *area, cco_fragment *message);

#endif
