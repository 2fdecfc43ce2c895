/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_sets.c - see stream_sets.h.  A rank's share of the memory has its part of each stream set,
 * one after the other. */
#include "progress/stream_sets.h"

#include <stdlib.h>

#include "config/config.h"
#include "base/log.h"
#include "base/own_lines.h"
#include "mpi/service.h"
#include "model/stream_model.h"
#include "transport/rma/shared.h"

enum { PART = 4 };

/* Those who share the memory: all ranks, or those of a node. */
static cco_company sharers_of(const cco_comm *state, cco_path path)
{
    const cco_node_map *map = state->nodes.map;
    if (path != CCO_PATH_NODES)
        return (cco_company){state->comm, NULL, state->size, state->rank};
    const int node = map->node[state->rank];
    return (cco_company){state->comm, &map->ranks[map->first[node]], cco_node_ranks(map, node),
                         map->place[state->rank]};
}

/* Bytes of a rank's part of a stream set, whole pages. */
static size_t stream_sets_part_of(const cco_company *who, cco_path path)
{
    enum { PAGE = 4096 };
    const size_t window = cco_configured.os_window.bytes;
    const bool own = path == CCO_PATH_SEGMENT || path == CCO_PATH_NODES;
    const size_t most = own || window > CCO_STREAM_SET_SHARE ? CCO_STREAM_SET_SHARE : window;
    const size_t part = cco_stream_share(who->count, cco_stream_ring(who->count, most));
    return (part + PAGE - 1) / PAGE * PAGE;
}

static bool stream_sets_make_segment(cco_stream_sets *r, const cco_company *who, size_t bytes)
{
    cco_segment *segment = &r->segment;
    const size_t most = cco_configured.shm_memory / PART; /* the rest is for blocking calls */
    if (!cco_segment_make_among(segment, bytes, most, who))
        return false;
    for (int i = 0; i < who->count; i++)
        r->shares[i] = segment->memory + (size_t)i * segment->share;
    return true;
}

static bool make_window(cco_stream_sets *r, const cco_company *who, size_t bytes)
{
    const MPI_Comm comm = who->comm;
    if (!cco_window_can_share(comm) ||
        cco_window_make(&r->window, bytes, bytes, comm, true, CCO_WINDOW_KEPT) != NULL)
        return false;
    for (int i = 0; i < who->count; i++)
        r->shares[i] = r->window.area.shares[i];
    return true;
}

/* Memory for all stream sets.  A rank alone on its node needs none. */
static bool make_memory(cco_stream_sets *r, cco_comm *state, cco_path path, const cco_company *who,
                        size_t bytes, const cco_channel *channel)
{
    if (path == CCO_PATH_SEGMENT)
        return stream_sets_make_segment(r, who, bytes);
    if (path != CCO_PATH_NODES)
        return make_window(r, who, bytes);
    r->nodes = cco_node_map_keep(state->nodes.map);
    if (channel->comm == MPI_COMM_NULL || cco_comm_channel(state) == NULL) /* on all ranks */
        return false;
    return cco_service_all(who->count == 1 || stream_sets_make_segment(r, who, bytes), state->comm);
}

/* False when memory runs out. */
static bool open_stream_set(cco_stream_sets *r, int i, const cco_company *who, size_t part,
                            bool gets)
{
    cco_stream_set *stream_set = &r->list[i];
    cco_area *area = &stream_set->area;
    *area = (cco_area){.kind = &cco_area_quiet,
                       .bytes = part,
                       .rank = who->place,
                       .size = who->count,
                       .ranks = who->ranks,
                       .shares = malloc((size_t)who->count * sizeof *area->shares),
                       .comm = MPI_COMM_NULL};
    if (r->segment.seats != NULL) { /* a window has none */
        stream_set->watch = (cco_watch){&cco_watch_processes, MPI_COMM_NULL, r->segment.seats,
                                        .fail = r->fail, .owner = r->owner};
        area->watch = &stream_set->watch;
    }
    if (area->shares == NULL)
        return false;
    for (int rank = 0; rank < who->count; rank++)
        area->shares[rank] = r->shares[rank] + (size_t)i * part;
    area->share = area->shares[who->place];
    cco_shown_open(area);
    return cco_stream_open(&stream_set->stream, area, gets);
}

/* To go on without them on one rank would hang the others. */
static void open_stream_sets(cco_stream_sets *r, const cco_comm *state, const cco_company *who,
                             size_t part, bool gets)
{
    for (int i = 0; i < r->count; i++)
        if (!open_stream_set(r, i, who, part, gets))
            cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
}

cco_stream_sets *cco_stream_sets_make(cco_comm *state, cco_path path, int count,
                                      const cco_channel *channel, cco_stream_fail *fail,
                                      void *owner)
{
    const cco_company who = sharers_of(state, path);
    const bool alone = who.count == 1;
    const size_t part = stream_sets_part_of(&who, path);
    cco_stream_sets *r = cco_own_lines(sizeof *r);
    if (r != NULL && !alone)
        r->shares = malloc((size_t)who.count * sizeof *r->shares);
    if (r == NULL || (r->shares == NULL && !alone))
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    r->window.win = MPI_WIN_NULL;
    r->count = count;
    r->fail = fail;
    r->owner = owner;
    if (make_memory(r, state, path, &who, (size_t)count * part, channel)) {
        if (!alone)
            open_stream_sets(r, state, &who, part, path == CCO_PATH_GETS);
        return r;
    }
    cco_stream_sets_free(r);
    return NULL;
}

void cco_stream_sets_ask(cco_stream_sets *r, const cco_comm *state)
{
    r->readable = cco_stream_model_readable(&r->list[0].area, state->comm);
}

void cco_stream_sets_leave(cco_stream_sets *r, int error)
{
    cco_segment_leave(&r->segment, error);
    for (int i = 0; i < r->count && r->shares != NULL; i++)
        cco_stream_leave(&r->list[i].stream, error);
}

void cco_stream_sets_free(cco_stream_sets *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < r->count; i++) {
        cco_stream_close(&r->list[i].stream);
        free(r->list[i].area.shares);
    }
    cco_segment_free(&r->segment);
    cco_window_retire(&r->window);
    cco_node_map_drop(r->nodes);
    free(r->shares);
    free(r);
}
