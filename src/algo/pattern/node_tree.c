/* SPDX-License-Identifier: BSD-3-Clause */
/* node_tree.c - see node_tree.h. */
#include "algo/pattern/node_tree.h"

#include "algo/pattern/tree.h"

void cco_node_tree_of(const cco_problem *q, cco_node_tree *tree)
{
    const cco_group node = cco_node_group(q);
    const cco_group leaders = cco_leader_group(q, q->root);
    const cco_problem within = cco_group_problem(q, &node, CCO_BCAST, q->bytes);
    const int root = cco_leader_place(q, &leaders), place = cco_tree_place(&within, root);
    const int reach = cco_tree_reach(place, node.size), nodes = leaders.size;
    const int far = (q->nodes->node[q->rank] - q->nodes->node[q->root] + nodes) % nodes;
    *tree = (cco_node_tree){.parent = -1};
    if (place > 0)
        tree->parent = node.ranks[(node.place - reach + node.size) % node.size];
    else if (far > 0)
        tree->parent = cco_group_rank(&leaders, (leaders.place - 1 + nodes) % nodes);
    if (place == 0 && far < nodes - 1)
        tree->children[tree->count++] = cco_group_rank(&leaders, (leaders.place + 1) % nodes);
    for (int bit = reach / 2; bit > 0; bit /= 2)
        if (bit < node.size - place)
            tree->children[tree->count++] = node.ranks[(node.place + bit) % node.size];
}
