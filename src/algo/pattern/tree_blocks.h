/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_blocks.h - a block of every rank along the binomial tree of tree.h, subtree by subtree.
 *
 * With q->counts, blocks differ and lie anywhere on the root, which packs them: one message for a
 * subtree.  Without, they are alike and lie in the order of ranks, and are not copied on the root:
 * two messages for the subtree that goes round from the last rank to the first. */
#ifndef CCO_TREE_BLOCKS_H
#define CCO_TREE_BLOCKS_H

#include "sched/problem.h"

/* gather and gatherv. */
void cco_tree_gather(cco_sched *s, const cco_problem *q);

/* scatter and scatterv. */
void cco_tree_scatter(cco_sched *s, const cco_problem *q);

#endif
