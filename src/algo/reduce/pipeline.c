/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce "pipeline": up a tree within each node, and from node to node along a chain of leaders, in
 * segments.
 *
 *   bytes between nodes: n out of each of N - 1 nodes, over no link twice
 *   scratch a segment for each child, and two   operation: commutative
 *
 * For large n: the links between nodes and the memory within work at the same time. */
#include "algo/algo.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/node_tree.h"

static const char *reduce_pipeline_refuses(const cco_problem *q)
{
    return q->commutative ? NULL : "needs a commutative operation";
}

/* What comes from the children, and is added to this rank's own. */
static void reduce_pipeline_receive(cco_sched *s, const cco_node_tree *tree, cco_span own,
                                    cco_span sum, const cco_span *got)
{
    cco_recv(s, tree->children[0], sum);
    for (int k = 1; k < tree->count; k++)
        cco_recv(s, tree->children[k], cco_part(s, got[k], 0, own.n));
    cco_round(s);
    cco_reduce(s, own, sum);
    for (int k = 1; k < tree->count; k++) {
        cco_round(s);
        cco_reduce(s, cco_part(s, got[k], 0, own.n), sum);
    }
}

static void reduce_pipeline_build(cco_sched *s, const cco_problem *q)
{
    const long segment = q->params[0];
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    const size_t segments = cco_pieces(q, in.n, segment);
    const size_t size = segments > 0 ? cco_piece(s, q, in, 0, segment).n : 0;
    cco_span got[CCO_NODE_CHILDREN];
    cco_node_tree tree;
    cco_node_tree_of(q, &tree);
    for (int k = 1; k < tree.count; k++)
        got[k] = cco_scratch(s, size);
    const size_t room = tree.count > 0 ? size : 0;
    const cco_span tmp[] = {cco_scratch(s, room), cco_scratch(s, room)};
    cco_span sum = in; /* of the segment before */
    for (size_t i = 0; i <= segments; i++) {
        const cco_span before = sum;
        cco_round(s);
        if (i > 0 && tree.parent >= 0)
            cco_send(s, tree.parent, before);
        else if (i > 0)
            cco_copy(s, before, cco_piece(s, q, out, i - 1, segment));
        if (i == segments)
            break;
        const cco_span own = cco_piece(s, q, in, i, segment);
        sum = tree.count > 0 ? cco_part(s, tmp[i % 2], 0, own.n) : own;
        if (tree.count > 0)
            reduce_pipeline_receive(s, &tree, own, sum, got);
    }
}

const cco_algo cco_reduce_pipeline = {
    .name = "pipeline",
    .doc = "in segments up each node, and from node to node while the next comes",
    .refuses = reduce_pipeline_refuses,
    .build = reduce_pipeline_build,
    .params = {{"segment", 32768, 1, 1 << 30, "bytes of a segment"}},
};
