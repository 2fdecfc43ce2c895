/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - collectives among some of the ranks, as parts of a collective among all: within a
 * node, between leaders of nodes, along a lane.
 *
 * A leader is a rank of a node that speaks for it.  A lane has one rank of each node, all at the
 * same place. */
#ifndef CCO_GROUPS_H
#define CCO_GROUPS_H

#include "sched/problem.h"

/* Why a problem cannot be done node by node, NULL if it can: operands have to be in the order of
 * ranks, or nodes equal.  Where nothing is known of nodes, nothing is against it. */
const char *cco_needs_order(const cco_problem *q);
const char *cco_needs_equal_nodes(const cco_problem *q);

/* The ranks of this rank's node, in order. */
cco_group cco_node_group(const cco_problem *q);

/* One rank of each node: the first; the first, but on the node of `root` that one; the last.  The
 * place of a rank that is not among them is -1. */
cco_group cco_first_group(const cco_problem *q);
cco_group cco_leader_group(const cco_problem *q, int root);
cco_group cco_last_group(const cco_problem *q);

/* The lane of this rank, where nodes have equally many. */
cco_group cco_lane_group(const cco_problem *q);

/* The place on this rank's node of the leader among `leaders`. */
int cco_leader_place(const cco_problem *q, const cco_group *leaders);

/* Sides of the problem of a group: of one block; of as many equal ones; of these, which are empty
 * if memory runs out, or ran out when they were listed. */
cco_side cco_side_of(cco_span span);
cco_side cco_side_parts(cco_sched *s, cco_span span, int parts);
cco_side cco_side_blocks(cco_sched *s, const cco_span *blocks, int count);

/* Room for the list of so many blocks, NULL if memory runs out. */
cco_span *cco_block_list(cco_sched *s, int count);

/* The problem of a group, without sides; its root is the first.  `bytes` as cco_problem has it. */
cco_problem cco_group_problem(const cco_problem *q, const cco_group *group, cco_coll coll,
                              size_t bytes);

/* Adds its schedule, in rounds of its own, by an algorithm that suits its size. */
void cco_group_run(cco_sched *s, cco_problem *part, const cco_group *group);

#endif
