/* SPDX-License-Identifier: BSD-3-Clause */
/* runway.c - see runway.h.  A rank's share of the memory has its part of each runway, one after the
 * other. */
#include "model/runway.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/log.h"
#include "transport/rma/shared.h"

enum { PART = 4 };

/* Bytes of a rank's part of a runway, whole pages. */
static size_t part_of(const cco_comm *state, size_t most)
{
    enum { PAGE = 4096 };
    const size_t part = cco_stream_share(state->size, cco_stream_ring(state->size, most));
    return (part + PAGE - 1) / PAGE * PAGE;
}

static bool make_segment(cco_runways *r, cco_comm *state, size_t bytes)
{
    cco_segment *segment = &r->segment;
    const size_t most = cco_configured.shm_memory / PART; /* the rest is for blocking calls */
    if (!cco_segment_make(segment, bytes, most, state->comm))
        return false;
    for (int i = 0; i < state->size; i++)
        r->shares[i] = segment->memory + (size_t)i * segment->share;
    return true;
}

static bool make_window(cco_runways *r, cco_comm *state, size_t bytes)
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
static bool open_runway(cco_runways *r, int i, const cco_comm *state, size_t part, bool gets)
{
    cco_runway *runway = &r->list[i];
    cco_area *area = &runway->area;
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
    return cco_stream_open(&runway->stream, area, gets);
}

cco_runways *cco_runways_make(cco_comm *state, cco_course course)
{
    const bool own = course == CCO_COURSE_SEGMENT;
    const size_t window = cco_configured.os_window.bytes;
    const size_t part = part_of(state,
                                own || window > CCO_RUNWAY_SHARE ? CCO_RUNWAY_SHARE : window);
    cco_runways *r = calloc(1, sizeof *r);
    if (r != NULL)
        r->shares = malloc((size_t)state->size * sizeof *r->shares);
    if (r == NULL || r->shares == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    r->window.win = MPI_WIN_NULL;
    const bool made = own ? make_segment(r, state, CCO_RUNWAYS * part)
                          : make_window(r, state, CCO_RUNWAYS * part);
    for (int i = 0; i < CCO_RUNWAYS && made; i++)
        if (!open_runway(r, i, state, part, course == CCO_COURSE_GETS))
            cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    if (made)
        return r;
    cco_runways_free(r);
    return NULL;
}

void cco_runways_free(cco_runways *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < CCO_RUNWAYS; i++) {
        cco_stream_close(&r->list[i].stream);
        free(r->list[i].area.shares);
    }
    cco_segment_free(&r->segment);
    cco_window_retire(&r->window);
    free(r->shares);
    free(r);
}
