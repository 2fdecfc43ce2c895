/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - see blocks.h. */
#include "transport/stream/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/own_lines.h"

/* The largest of which a ring has room for all; fewer of the least size. */
static size_t bytes_for(size_t ring)
{
    size_t bytes = CCO_STREAM_BLOCKS_MOST;
    while (bytes > CCO_STREAM_BLOCKS_LEAST && bytes * (CCO_STREAM_BLOCKS_UNREAD - 1) > ring)
        bytes /= 2;
    return bytes <= ring ? bytes : 0;
}

bool cco_stream_blocks_open(cco_stream_blocks *b, const cco_area *area, size_t first, size_t ring)
{
    *b = (cco_stream_blocks){.first = first, .ring = ring};
    const size_t bytes = area->shares != NULL && area->size > 1 ? bytes_for(ring) : 0;
    const size_t all = (size_t)area->size * CCO_STREAM_BLOCKS_UNREAD;
    if (bytes == 0 || all > UINT16_MAX)
        return true;
    b->list = cco_own_lines(all * sizeof *b->list);
    if (b->list == NULL)
        return false;
    b->bytes = bytes;
    while (b->held < CCO_STREAM_BLOCKS_UNREAD && (size_t)(b->held + 1) * bytes <= ring) {
        b->list[b->held] = (uint16_t)(area->rank * CCO_STREAM_BLOCKS_UNREAD + b->held);
        b->held++;
    }
    return true;
}

void cco_stream_blocks_close(cco_stream_blocks *b)
{
    free(b->list);
    *b = (cco_stream_blocks){0};
}

static char *stream_blocks_place_of(const cco_stream_blocks *b, const cco_area *area,
                                    uint16_t block)
{
    const size_t owner = block / CCO_STREAM_BLOCKS_UNREAD,
                 number = block % CCO_STREAM_BLOCKS_UNREAD;
    return area->shares[owner] + b->first + owner * b->ring + number * b->bytes;
}

static char *after_of(char *line, uint32_t number)
{
    return line + CCO_LINE_BLOCKS_AFTER + number % CCO_STREAM_BLOCKS_UNREAD * sizeof(uint32_t);
}

static char *which_of(char *line, uint32_t number)
{
    return line + CCO_LINE_BLOCKS_WHICH + number % CCO_STREAM_BLOCKS_UNREAD * sizeof(uint16_t);
}

int cco_stream_blocks_pass(cco_stream_blocks *b, cco_stream_blocks_pair *pair, cco_area *area,
                           int peer, uint32_t at, const char *from, size_t n)
{
    char *line = area->shares[peer] + (size_t)area->rank * CCO_LINE;
    const uint16_t block = b->list[--b->held];
    memcpy(stream_blocks_place_of(b, area, block), from, n); /* it is in this core's cache */
    memcpy(after_of(line, pair->passed), &at, sizeof at);
    memcpy(which_of(line, pair->passed), &block, sizeof block);
    return cco_line_tell(area, peer, CCO_LINE_BLOCKS_PASSED, ++pair->passed);
}

bool cco_stream_blocks_next(const cco_stream_blocks_pair *pair, const cco_area *area, int peer,
                            uint32_t *at)
{
    if (cco_line_word(area, peer, CCO_LINE_BLOCKS_PASSED) == pair->taken)
        return false;
    memcpy(at, after_of(area->share + (size_t)peer * CCO_LINE, pair->taken), sizeof *at);
    return true;
}

int cco_stream_blocks_take(cco_stream_blocks *b, cco_stream_blocks_pair *pair, cco_area *area,
                           int peer, char *to, size_t n)
{
    uint16_t block;
    memcpy(&block, which_of(area->share + (size_t)peer * CCO_LINE, pair->taken), sizeof block);
    memcpy(to, stream_blocks_place_of(b, area, block), n);
    b->list[b->held++] = block;
    if (++pair->taken - pair->taken_told < CCO_STREAM_BLOCKS_UNREAD / 2)
        return MPI_SUCCESS;
    pair->taken_told = pair->taken;
    return cco_line_tell(area, peer, CCO_LINE_BLOCKS_TAKEN, pair->taken);
}
