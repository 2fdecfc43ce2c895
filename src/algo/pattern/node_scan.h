/* SPDX-License-Identifier: BSD-3-Clause */
/* node_scan.h - what scan and exscan do between nodes. */
#ifndef CCO_NODE_SCAN_H
#define CCO_NODE_SCAN_H

#include "algo/pattern/groups.h"

/* For `refuses`: operands are in the order of ranks. */
const char *cco_needs_nodes_in_a_row(const cco_problem *q);

/* `total` of a node is that of its last rank.  Brings the sum of all nodes before to every rank but
 * those of the first node, in `*before`.  False where there is none, or memory runs out. */
bool cco_sum_of_nodes_before(cco_sched *s, const cco_problem *q, cco_span total, cco_span *before);

#endif
