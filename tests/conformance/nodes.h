/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - problems of algorithms that know nodes, with the ranks on nodes in many ways. */
#ifndef NODES_H
#define NODES_H

#include "world.h"

/* True for the algorithms of node_algos.def. */
bool knows_nodes(const cco_algo *algo, cco_coll coll);

/* Visits a problem with each way to divide its ranks among nodes: of few ranks all there are.  For
 * an algorithm that knows none, just the problem. */
void each_division(const cco_algo *algo, const world_case *base,
                   void (*visit)(const cco_algo *algo, const world_case *c));

#endif
