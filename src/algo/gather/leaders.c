/* SPDX-License-Identifier: BSD-3-Clause */
/* gather, gatherv "leaders": within each node to one rank, then between these to the root.
 *
 *   messages between nodes: N - 1 of N nodes   bytes: each block once, or log2 N times if all are
 *   small   scratch the blocks of a node on its leader, all on the root if nodes do not lie one
 *   after the other; of a gatherv, after a broadcast of 8p bytes: all sizes
 */
#include "algo/algo.h"

#include "algo/pattern/node_rooted.h"

static void gather_leaders_build(cco_sched *s, const cco_problem *q)
{
    cco_node_rooted r;
    cco_node_rooted_open(s, q, &r);
    cco_node_rooted_within(s, &r, q->in);
    if (r.leaders.place >= 0)
        cco_node_rooted_between(s, &r);
    if (r.copies)
        cco_from_nodes(s, &r.here, &q->out);
}

const cco_algo cco_gather_leaders = {
    .name = "leaders",
    .doc = "within each node to one rank, then between these to the root",
    .build = gather_leaders_build,
    .shares_counts = true,
};
