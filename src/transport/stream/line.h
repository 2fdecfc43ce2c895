/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - where a share of an area begins: a line for each peer, in which only that peer writes.
 * This rank writes in the line of its own. */
#ifndef CCO_LINE_H
#define CCO_LINE_H

#include "transport/stream/area.h"

enum {
    CCO_LINE = 64,               /* bytes */
    CCO_LINE_GIVEN = 0,          /* words (stream.c), */
    CCO_LINE_TAKEN = 4,          /* */
    CCO_LINE_SHOWN = 8,          /* of shown.c, */
    CCO_LINE_READ = 12,          /* */
    CCO_LINE_REFUSED = 16,       /* */
    CCO_LINE_ADDRESS = 24,       /* 8 bytes; */
    CCO_LINE_BLOCKS_PASSED = 20, /* and of blocks.c, */
    CCO_LINE_BLOCKS_TAKEN = 56,  /* */
    CCO_LINE_BLOCKS_AFTER = 32,  /* a word for each block on its way, */
    CCO_LINE_BLOCKS_WHICH = 48,  /* and half a word */
    CCO_LINE_BLOCKS = 4,         /* of so many */
    CCO_LINE_LEFT = 60,          /* the class of the error with which it has given up (stream.c) */
    CCO_LINE_PROCESS = 0,        /* in this rank's own line: a cco_process_id, */
    CCO_LINE_NUMBER = 32,        /* and how far it has come: the number of its schedule, */
    CCO_LINE_STAMP = 40,         /* and its call (fragment.c) */
};

/* What a peer has told. */
static inline uint32_t cco_line_word(const cco_area *area, int peer, size_t at)
{
    const char *line = area->share + (size_t)peer * CCO_LINE;
    return __atomic_load_n((const uint32_t *)(const void *)(line + at), __ATOMIC_ACQUIRE);
}

/* What `rank` has in its own line, where shares are in the memory of this one. */
static inline uint64_t *cco_line_own(const cco_area *area, int rank, size_t at)
{
    return (uint64_t *)(void *)(area->shares[rank] + (size_t)rank * CCO_LINE + at);
}

/* Tells a peer.  Returns MPI_SUCCESS or an MPI error class. */
static inline int cco_line_tell(cco_area *area, int peer, size_t at, uint32_t word)
{
    return area->kind->tell(area, peer, (size_t)area->rank * CCO_LINE + at, word);
}

#endif
