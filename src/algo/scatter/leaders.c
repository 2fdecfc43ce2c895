/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter, scatterv "leaders": from the root to one rank of each node, then within the nodes.
 *
 *   messages between nodes: N - 1 of N nodes   bytes: each block once, or log2 N times if all are
 *   small   scratch the blocks of a node on its leader, all on the root if nodes do not lie one
 *   after the other; of a scatterv, after a broadcast of 8p bytes: all sizes
 */
#include "algo/algo.h"

#include "algo/pattern/node_rooted.h"

static void scatter_leaders_build(cco_sched *s, const cco_problem *q)
{
    cco_node_rooted r;
    cco_side own = q->out;
    cco_node_rooted_open(s, q, &r);
    if (q->rank == q->root && own.base == CCO_IN) /* in place: where it was is where it stays */
        own = cco_side_of(cco_of_rank(s, &r.here, q->rank));
    if (r.copies)
        cco_to_nodes(s, &r.here, &q->in);
    if (r.leaders.place >= 0)
        cco_node_rooted_between(s, &r);
    cco_node_rooted_within(s, &r, own);
}

const cco_algo cco_scatter_leaders = {
    .name = "leaders",
    .doc = "from the root to one rank of each node, then within the nodes",
    .build = scatter_leaders_build,
    .shares_counts = true,
};
