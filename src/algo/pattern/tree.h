/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.h - the binomial tree over ranks counted from its root, their "places".
 *
 * A place with reach 2^j has the children place + 2^(j-1), ..., place + 1 (those below p) and the
 * parent place - 2^j; the subtree is the places from itself to place + 2^j - 1 (those below p). */
#ifndef CCO_TREE_H
#define CCO_TREE_H

#include "sched/problem.h"

int cco_tree_place(const cco_problem *q, int root);

/* The lowest bit of a place that is set; of the root, the first power of two not below p. */
int cco_tree_reach(int place, int p);

/* The end of the subtree of a place. */
int cco_tree_end(int place, int p);

/* From the root to all, the largest subtree first. */
void cco_tree_bcast(cco_sched *s, const cco_problem *q, int root, cco_span all);

/* Reduces `in` of all ranks to `sum` on the root.  A rank with children uses `sum` and `got`, which
 * have the size of `in`.  In the order of ranks if the operation commutes or the root is rank 0. */
void cco_tree_reduce(cco_sched *s, const cco_problem *q, int root, cco_span in, cco_span sum,
                     cco_span got);

#endif
