/* SPDX-License-Identifier: BSD-3-Clause */
/* route.h - messages within a node through memory that its ranks share, and all others by the MPI's
 * sends and receives: two transports as one, so that one schedule uses both and one test sees what
 * comes over either. */
#ifndef CCO_ROUTE_H
#define CCO_ROUTE_H

#include "sched/node_map.h"
#include "transport/p2p/p2p.h"
#include "transport/stream/stream.h"

/* What the transfers of a communicator share. */
typedef struct cco_route {
    const cco_node_map *map;
    int node;            /* of this rank */
    cco_stream *streams; /* between the ranks of this node, by their places; NULL: by messages */
    cco_p2p *messages;
} cco_route;

extern const cco_transport cco_transport_route;

#endif
