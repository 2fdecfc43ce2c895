/* SPDX-License-Identifier: BSD-3-Clause */
/* route.c - see route.h. */
#include "transport/route/route.h"

#include <stdlib.h>

#include "base/own_lines.h"
#include "base/pause.h"
#include "transport/local/local.h"

/* A way for messages: what has it, whether any are under way, and how many started in the open
 * round. */
typedef struct lane {
    const cco_transport *transport;
    void *transfer;
    bool busy;
    int count;
} lane;

/* A message of the open round: where it is the `number`th, or THROUGH. */
typedef struct sent_by {
    int lane, number;
} sent_by;

enum { NEAR, FAR, LANES, THROUGH = -1 };

typedef struct transfer {
    const cco_route *route;
    lane lanes[LANES];
    int count; /* messages of the open round */
    sent_by messages[];
} transfer;

static void route_close_transfer(void *data)
{
    transfer *f = data;
    for (int i = 0; i < LANES; i++)
        if (f->lanes[i].transfer != NULL)
            f->lanes[i].transport->close(f->lanes[i].transfer);
    free(f);
}

static bool open_lane(lane *l, const cco_transport *transport, void *shared, int messages)
{
    if (shared == NULL)
        return true;
    *l = (lane){transport, transport->open(shared, messages), false, 0};
    return l->transfer != NULL;
}

static void *route_open_transfer(void *shared, int messages)
{
    cco_route *route = shared;
    transfer *f = cco_own_lines(sizeof *f + (size_t)messages * sizeof f->messages[0]);
    if (f == NULL)
        return NULL;
    f->route = route;
    if (open_lane(&f->lanes[FAR], &cco_transport_p2p, route->messages, messages) &&
        open_lane(&f->lanes[NEAR], &cco_transport_stream, route->streams, messages))
        return f;
    route_close_transfer(f);
    return NULL;
}

static void route_stamp(void *data, uint64_t stamp)
{
    const transfer *f = data;
    for (int i = 0; i < LANES; i++)
        if (f->lanes[i].transfer != NULL)
            f->lanes[i].transport->stamp(f->lanes[i].transfer, stamp);
}

static int route_next_call(void *shared)
{
    const cco_route *route = shared;
    return cco_transport_p2p.call(route->messages);
}

static void route_give_up(void *shared)
{
    const cco_route *route = shared;
    cco_transport_p2p.give_up(route->messages);
    if (route->streams != NULL)
        cco_transport_stream.give_up(route->streams);
}

static void route_begin(void *data)
{
    transfer *f = data;
    f->count = 0;
    for (int i = 0; i < LANES; i++) {
        f->lanes[i].busy = false;
        f->lanes[i].count = 0;
        if (f->lanes[i].transfer != NULL)
            f->lanes[i].transport->begin(f->lanes[i].transfer);
    }
}

static void route_end(void *data)
{
    const transfer *f = data;
    if (f->lanes[NEAR].transfer != NULL)
        cco_transport_stream.end(f->lanes[NEAR].transfer);
}

/* The way to a peer, which gets its number there. */
static lane *lane_to(transfer *f, int *peer)
{
    const cco_node_map *map = f->route->map;
    const bool near = f->lanes[NEAR].transfer != NULL && map->node[*peer] == f->route->node;
    lane *l = &f->lanes[near ? NEAR : FAR];
    if (near)
        *peer = map->place[*peer];
    f->messages[f->count++] = (sent_by){near ? NEAR : FAR, l->count++};
    l->busy = true;
    return l;
}

static int route_start_recv(void *data, int peer, const cco_data *to)
{
    const lane *l = lane_to(data, &peer);
    return l->transport->recv(l->transfer, peer, to);
}

static int route_start_send(void *data, int peer, const cco_data *from)
{
    const lane *l = lane_to(data, &peer);
    return l->transport->send(l->transfer, peer, from);
}

/* A lane has ended all that started there, and counts anew. */
static void route_count_anew(transfer *f, int lane)
{
    for (int i = 0; i < f->count; i++)
        if (f->messages[i].lane == lane)
            f->messages[i].number = THROUGH;
    f->lanes[lane].count = 0;
}

/* An error of messages: the ranks of this node wait in memory for what comes no more. */
static int route_leave(const transfer *f, int lane, int error)
{
    int class = error;
    if (error != MPI_SUCCESS && lane == FAR && f->route->streams != NULL) {
        PMPI_Error_class(error, &class);
        cco_stream_leave(f->route->streams, class);
    }
    return error;
}

/* Memory first: it takes no call of the MPI. */
static int route_test(void *data, bool *done)
{
    transfer *f = data;
    int rc = MPI_SUCCESS;
    *done = true;
    for (int i = 0; i < LANES && rc == MPI_SUCCESS; i++) {
        lane *l = &f->lanes[i];
        bool over = true;
        if (l->busy)
            rc = route_leave(f, i, l->transport->test(l->transfer, &over));
        if (rc == MPI_SUCCESS && over && l->busy)
            route_count_anew(f, i);
        l->busy = !over;
        *done = *done && over;
    }
    *done = *done && rc == MPI_SUCCESS;
    if (*done)
        f->count = 0;
    return rc;
}

/* Each lane has its own peers. */
static int route_lost(void *data)
{
    transfer *f = data;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < LANES && rc == MPI_SUCCESS; i++)
        if (f->lanes[i].busy)
            rc = route_leave(f, i, f->lanes[i].transport->lost(f->lanes[i].transfer));
    return rc;
}

static int route_over(void *data, int number, bool *over)
{
    const transfer *f = data;
    const sent_by *m = &f->messages[number];
    const lane *l = &f->lanes[m->lane];
    *over = m->number == THROUGH;
    return !*over ? l->transport->over(l->transfer, m->number, over) : MPI_SUCCESS;
}

static void route_abandon(void *data)
{
    transfer *f = data;
    for (int i = 0; i < LANES; i++)
        if (f->lanes[i].transfer != NULL)
            f->lanes[i].transport->abandon(f->lanes[i].transfer);
}

const cco_transport cco_transport_route = {
    .name = "route",
    .looks = CCO_PAUSE_LOOKS,
    .open = route_open_transfer,
    .close = route_close_transfer,
    .stamp = route_stamp,
    .call = route_next_call,
    .give_up = route_give_up,
    .begin = route_begin,
    .end = route_end,
    .recv = route_start_recv,
    .send = route_start_send,
    .test = route_test,
    .lost = route_lost,
    .over = route_over,
    .abandon = route_abandon,
    .copy = cco_mpi_copy,
    .reduce = cco_mpi_reduce,
};
