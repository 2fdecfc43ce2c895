/* SPDX-License-Identifier: BSD-3-Clause */
/* node_tree.h - a tree for pieces that follow each other: a chain of leaders of nodes, and below
 * each a binomial tree of the ranks of its node. */
#ifndef CCO_NODE_TREE_H
#define CCO_NODE_TREE_H

#include "algo/pattern/groups.h"

enum { CCO_NODE_CHILDREN = 33 }; /* at most */

/* A rank's place; the root has no parent, -1.  The next leader comes first among the children. */
typedef struct cco_node_tree {
    int parent, count;
    int children[CCO_NODE_CHILDREN];
} cco_node_tree;

/* The nodes follow that of the root in their order. */
void cco_node_tree_of(const cco_problem *q, cco_node_tree *tree);

#endif
