/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_sets.c - see stream_sets.h.  A rank's share of the memory has its part of each stream set,
 * one after the other. */
#include "progress/stream_sets.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/log.h"
#include "model/stream_model.h"
#include "transport/rma/shared.h"

enum { PART = 4 };

/* Bytes of a rank's part of a stream set, whole pages. */
static size_t part_of(const cco_comm *state, size_t most)
{
    enum { PAGE = 4096 };
    const size_t part = cco_stream_share(state->size, cco_stream_ring(state->size, most));
    return (part + PAGE - 1) / PAGE * PAGE;
}

static bool make_segment(cco_stream_sets *r, cco_comm *state, size_t bytes)
{
    cco_segment *segment = &r->segment;
    const size_t most = cco_configured.shm_memory / PART; /* the rest is for blocking calls */
    if (!cco_segment_make(segment, bytes, most, state->comm))
        return false;
    for (int i = 0; i < state->size; i++)
        r->shares[i] = segment->memory + (size_t)i * segment->share;
    return true;
}

static bool make_window(cco_stream_sets *r, cco_comm *state, size_t bytes)
{
    const MPI_Comm comm = state->comm;
    if (!cco_window_can_share(comm) ||
        cco_window_make(&r->window, bytes, bytes, comm, true, CCO_WINDOW_KEPT) != NULL)
        return false;
    for (int i = 0; i < state->size; i++)
        r->shares[i] = r->window.area.shares[i];
    return true;
}

/* False when memory runs out. */
static bool open_stream_set(cco_stream_sets *r, int i, const cco_comm *state, size_t part,
                            bool gets)
{
    cco_stream_set *stream_set = &r->list[i];
    cco_area *area = &stream_set->area;
    *area = (cco_area){.kind = &cco_area_quiet,
                       .bytes = part,
                       .rank = state->rank,
                       .size = state->size,
                       .shares = malloc((size_t)state->size * sizeof *area->shares),
                       .comm = MPI_COMM_NULL};
    if (area->shares == NULL)
        return false;
    for (int rank = 0; rank < state->size; rank++)
        area->shares[rank] = r->shares[rank] + (size_t)i * part;
    area->share = area->shares[state->rank];
    cco_shown_open(area);
    return cco_stream_open(&stream_set->stream, area, gets);
}

cco_stream_sets *cco_stream_sets_make(cco_comm *state, cco_path path)
{
    const bool own = path == CCO_PATH_SEGMENT;
    const size_t window = cco_configured.os_window.bytes;
    const size_t part = part_of(state, own || window > CCO_STREAM_SET_SHARE ? CCO_STREAM_SET_SHARE
                                                                            : window);
    cco_stream_sets *r = calloc(1, sizeof *r);
    if (r != NULL)
        r->shares = malloc((size_t)state->size * sizeof *r->shares);
    if (r == NULL || r->shares == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    r->window.win = MPI_WIN_NULL;
    const bool made = own ? make_segment(r, state, CCO_STREAM_SETS * part)
                          : make_window(r, state, CCO_STREAM_SETS * part);
    for (int i = 0; i < CCO_STREAM_SETS && made; i++)
        if (!open_stream_set(r, i, state, part, path == CCO_PATH_GETS))
            cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    if (made)
        return r;
    cco_stream_sets_free(r);
    return NULL;
}

void cco_stream_sets_ask(cco_stream_sets *r, const cco_comm *state)
{
    r->readable = cco_stream_model_readable(&r->list[0].area, state->comm);
}

void cco_stream_sets_free(cco_stream_sets *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < CCO_STREAM_SETS; i++) {
        cco_stream_close(&r->list[i].stream);
        free(r->list[i].area.shares);
    }
    cco_segment_free(&r->segment);
    cco_window_retire(&r->window);
    free(r->shares);
    free(r);
}
