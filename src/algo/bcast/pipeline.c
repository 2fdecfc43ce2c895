/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast "pipeline": from node to node along a chain of leaders, in segments, each of which also
 * goes down a tree within the node while the next comes.
 *
 *   bytes between nodes: n into each of N - 1 nodes, over no link twice   scratch 0
 *   rounds: n/segment and the depth of the tree
 *
 * For large n: the links between nodes and the memory within work at the same time. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/node_tree.h"

static void bcast_pipeline_build(cco_sched *s, const cco_problem *q)
{
    const long segment = q->params[0];
    const cco_span all = cco_whole(&q->out);
    const size_t segments = cco_pieces(q, all.n, segment);
    cco_node_tree tree;
    cco_node_tree_of(q, &tree);
    for (size_t i = 0; i <= segments; i++) { /* one segment comes while the last goes on */
        cco_round(s);
        for (int k = 0; i > 0 && k < tree.count; k++)
            cco_send(s, tree.children[k], cco_piece(s, q, all, i - 1, segment));
        if (i < segments && tree.parent >= 0)
            cco_recv(s, tree.parent, cco_piece(s, q, all, i, segment));
    }
}

const cco_algo cco_bcast_pipeline = {
    .name = "pipeline",
    .doc = "in segments from node to node, and within each while the next comes",
    .build = bcast_pipeline_build,
    .params = {{"segment", 32768, 1, 1 << 30, "bytes of a segment"}},
};
