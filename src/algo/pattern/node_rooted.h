/* SPDX-License-Identifier: BSD-3-Clause */
/* node_rooted.h - gather and scatter by leaders of nodes, with uneven blocks too: within each node
 * to or from one rank, and between these.  The leader of the root's node is the root. */
#ifndef CCO_NODE_ROOTED_H
#define CCO_NODE_ROOTED_H

#include "algo/pattern/node_blocks.h"

typedef struct cco_node_rooted {
    const cco_problem *q;
    bool gathers;
    cco_group leaders;
    cco_node_blocks here; /* on a leader: the blocks of its node, on the root of all */
    bool copies;          /* on the root: these are scratch, and not where the blocks belong */
} cco_node_rooted;

/* Finds leaders, and where they have their blocks. */
void cco_node_rooted_open(cco_sched *s, const cco_problem *q, cco_node_rooted *r);

/* The blocks of this rank's node, between its leader and its ranks, each of which has `own`; those
 * of all nodes, between the root and the leaders. */
void cco_node_rooted_within(cco_sched *s, const cco_node_rooted *r, cco_side own);
void cco_node_rooted_between(cco_sched *s, const cco_node_rooted *r);

#endif
