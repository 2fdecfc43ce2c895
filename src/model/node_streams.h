/* SPDX-License-Identifier: BSD-3-Clause */
/* node_streams.h - streams between the ranks of a node, for a communicator on several nodes. */
#ifndef CCO_NODE_STREAMS_H
#define CCO_NODE_STREAMS_H

#include "comm/comm.h"
#include "sched/node_map.h"
#include "transport/shm/segment.h"
#include "transport/stream/stream.h"

typedef struct cco_node_streams {
    cco_segment segment;
    cco_watch watch; /* of the ranks of this node */
    cco_area area;
    cco_stream stream;
    bool there; /* on all ranks of this node, or on none */
} cco_node_streams;

/* Makes them, where the ranks of a node share memory and CRESTA_SHM_MEMORY leaves room for it.
 * Collective over the communicator, which has a channel, and whose ranks are on the nodes of `map`:
 * messages within each node, and an agreement of all.  True on all ranks if all nodes have them
 * that need them; others do without. */
bool cco_node_streams_make(cco_node_streams *streams, cco_comm *state, const cco_node_map *map);

void cco_node_streams_free(cco_node_streams *streams); /* local; what was never made, too */

#endif
