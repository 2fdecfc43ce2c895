/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_named.c - see shm_named.h. */
#include "model/shm_named.h"

#include <stdlib.h>

#include "config/config.h"
#include "base/log.h"

/* Bytes of a rank's share, or more where many ranks need it: its rings for all others.  Up to
 * FEW ranks it may be larger, for that many such shares are still little memory for a node. */
enum { FEW = 64, SHARE_OF_FEW = 1 << 20, SHARE_OF_MANY = 512 << 10 };

static bool open_area(cco_shm_named *named, cco_comm *state)
{
    cco_area *area = &named->area;
    const int n = state->size;
    *area = (cco_area){.kind = &cco_area_direct,
                       .share = named->segment.memory + (size_t)state->rank * named->segment.share,
                       .bytes = named->segment.share,
                       .rank = state->rank,
                       .size = n,
                       .shares = malloc((size_t)n * sizeof *area->shares),
                       .comm = state->comm,
                       .watch = &named->watch};
    named->watch.seats = named->segment.seats;
    for (int i = 0; i < n && area->shares != NULL; i++)
        area->shares[i] = named->segment.memory + (size_t)i * named->segment.share;
    return area->shares != NULL;
}

bool cco_shm_named_there(cco_shm_named *named, cco_comm *state)
{
    const size_t bytes = state->size > FEW ? SHARE_OF_MANY : SHARE_OF_FEW;
    const size_t share = cco_stream_share(state->size, cco_stream_ring(state->size, bytes));
    if (named->asked)
        return named->segment.memory != NULL;
    named->asked = true;
    if (!cco_segment_make(&named->segment, share, cco_configured.shm_memory, state->comm))
        return false;
    if (!open_area(named, state)) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for streams on communicator '%s'", state->name);
    cco_shown_open(&named->area);
    cco_stream_model_open(&named->streams, &named->area, false, state);
    return true;
}

bool cco_shm_named_single(cco_shm_named *named, const cco_comm *state)
{
    if (!named->asked_single)
        named->single = cco_stream_model_readable(&named->area, state->comm);
    named->asked_single = true;
    return named->single;
}

int cco_shm_named_run(cco_shm_named *named, cco_shown_rule shows, cco_comm *state,
                      const cco_way *way, const cco_call *call)
{
    named->streams.stream.shows = shows;
    return cco_scheduled_fail(&named->streams.scheduled, state,
                              cco_scheduled_run(&named->streams.scheduled, state, way, call));
}

void cco_shm_named_leave(cco_shm_named *named, int error)
{
    if (named->segment.memory == NULL)
        return;
    cco_segment_leave(&named->segment, error);
    cco_transport_stream.give_up(&named->streams.stream);
}

void cco_shm_named_free(cco_shm_named *named)
{
    cco_stream_model_close(&named->streams);
    cco_stream_model_free(&named->streams);
    cco_segment_free(&named->segment);
    free(named->area.shares);
    named->area.shares = NULL;
}
