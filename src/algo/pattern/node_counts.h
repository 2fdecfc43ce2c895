/* SPDX-License-Identifier: BSD-3-Clause */
/* node_counts.h - the sizes of an alltoallv to the leaders of nodes, who pack what others send. */
#ifndef CCO_NODE_COUNTS_H
#define CCO_NODE_COUNTS_H

#include "algo/algo.h"

/* Gathers what each rank of a node gives, in its order, on the node's leader: `q->bytes` each. */
extern const cco_algo cco_node_counts;

#endif
