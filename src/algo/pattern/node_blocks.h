/* SPDX-License-Identifier: BSD-3-Clause */
/* node_blocks.h - a block of every rank, node after node. */
#ifndef CCO_NODE_BLOCKS_H
#define CCO_NODE_BLOCKS_H

#include "algo/pattern/groups.h"

/* Blocks of all ranks in one span, those of a node one after the other. */
typedef struct cco_node_blocks {
    const cco_problem *q;
    const size_t *n; /* bytes of the block of each rank; NULL: `each` */
    size_t each;
    cco_span all; /* all of them, or those of this rank's node */
    bool own;     /* the latter */
} cco_node_blocks;

/* Bytes of the blocks of a node, and of all. */
size_t cco_node_bytes(const cco_node_blocks *b, int node);
size_t cco_all_bytes(const cco_node_blocks *b);

/* Where the blocks of a node are, and that of a rank. */
cco_span cco_of_node(cco_sched *s, const cco_node_blocks *b, int node);
cco_span cco_of_rank(cco_sched *s, const cco_node_blocks *b, int rank);

/* Lists of these: of all nodes; of the ranks of this rank's node (cco_side_blocks). */
cco_side cco_side_of_nodes(cco_sched *s, const cco_node_blocks *b);
cco_side cco_side_of_node(cco_sched *s, const cco_node_blocks *b);

/* Bytes of the block of each rank of this rank's node, and of all blocks of each node: what
 * algorithms for uneven blocks ask for (cco_problem.counts).  NULL if memory runs out. */
const size_t *cco_counts_of_node(cco_sched *s, const cco_node_blocks *b);
const size_t *cco_counts_of_nodes(cco_sched *s, const cco_node_blocks *b);

/* Copies between these blocks and those of a side, of all ranks. */
void cco_to_nodes(cco_sched *s, const cco_node_blocks *b, const cco_side *from);
void cco_from_nodes(cco_sched *s, const cco_node_blocks *b, const cco_side *to);

#endif
