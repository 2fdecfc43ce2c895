/* SPDX-License-Identifier: BSD-3-Clause */
/* node_streams.c - see node_streams.h. */
#include "model/node_streams.h"

#include <stdlib.h>

#include "config/config.h"
#include "comm/failure.h"
#include "base/log.h"
#include "mpi/service.h"

/* Bytes of a rank's share, or less where few ranks need it: its rings for all others. */
enum { SHARE = 1 << 20, RING = 256 << 10 };

static size_t node_streams_share_of(int ranks)
{
    const size_t wanted = cco_stream_share(ranks, RING);
    return wanted < SHARE ? wanted : cco_stream_share(ranks, cco_stream_ring(ranks, SHARE));
}

static void node_streams_open_streams(cco_node_streams *n, const cco_comm *state,
                                      const cco_node_map *map)
{
    const int size = n->segment.shares, place = map->place[state->rank];
    cco_area *area = &n->area;
    *area = (cco_area){.kind = &cco_area_direct,
                       .share = n->segment.memory + (size_t)place * n->segment.share,
                       .bytes = n->segment.share,
                       .rank = place,
                       .size = size,
                       .ranks = &map->ranks[map->first[map->node[state->rank]]],
                       .shares = malloc((size_t)size * sizeof *area->shares),
                       .comm = state->comm,
                       .watch = &n->watch};
    for (int i = 0; i < size && area->shares != NULL; i++)
        area->shares[i] = n->segment.memory + (size_t)i * n->segment.share;
    n->there = area->shares != NULL && cco_stream_open(&n->stream, area, false);
    if (!n->there) /* to go on without them on one rank would hang the others */
        cco_fatal("no memory for streams on communicator '%s'", state->name);
}

/* A process has failed: this rank takes no further part. */
static void node_streams_leave(void *what, int error)
{
    cco_node_streams *n = what;
    cco_segment_leave(&n->segment, error);
    cco_transport_stream.give_up(&n->stream);
}

/* A wait found it out; seats are places on the node. */
static void node_streams_fail(void *owner, int error, int lost)
{
    cco_comm *state = owner;
    const cco_node_map *map = state->nodes.map;
    cco_comm_fail(state, error,
                  lost < 0 ? -1 : map->ranks[map->first[map->node[state->rank]] + lost]);
}

static void node_streams_watch(cco_node_streams *n, cco_comm *state)
{
    n->watch = (cco_watch){&cco_watch_processes, state->comm, n->segment.seats,
                           .fail = node_streams_fail, .owner = state};
    cco_comm_on_failure(state, node_streams_leave, n);
}

/* True if the ranks of this node need none, or have them. */
static bool node_streams_make(cco_node_streams *n, cco_comm *state, const cco_node_map *map)
{
    const int mine = map->node[state->rank];
    const cco_company node = {.comm = state->comm,
                              .ranks = &map->ranks[map->first[mine]],
                              .count = cco_node_ranks(map, mine),
                              .place = map->place[state->rank]};
    if (node.count == 1)
        return true;
    if (cco_segment_make_among(&n->segment, node_streams_share_of(node.count),
                               cco_configured.shm_memory, &node))
        node_streams_open_streams(n, state, map);
    if (n->there)
        node_streams_watch(n, state);
    return n->there;
}

bool cco_node_streams_make(cco_node_streams *n, cco_comm *state, const cco_node_map *map)
{
    return map->most == 1 || cco_service_all(node_streams_make(n, state, map), state->comm);
}

void cco_node_streams_free(cco_node_streams *n)
{
    if (n->there)
        cco_stream_close(&n->stream);
    free(n->area.shares);
    n->area.shares = NULL;
    cco_segment_free(&n->segment);
    n->there = false;
}
