/* SPDX-License-Identifier: BSD-3-Clause */
/* all_neighbors.h - what the library's ranks find out together about their neighbors, where the
 * lists of all ranks are known in one process. */
#ifndef CCO_ALL_NEIGHBORS_H
#define CCO_ALL_NEIGHBORS_H

#include "comm/neighbors.h"
#include "sched/node_map.h"

/* Gives each rank the first stencil that the lists of all ranks are, in memory of malloc.  False if
 * there is none, or no memory. */
bool cco_all_neighbors_give_stencil(cco_neighbors *near, int size);

/* Gives each rank its mates, in memory of malloc.  False when memory runs out. */
bool cco_all_neighbors_give_mates(cco_neighbors *near, const cco_node_map *map);

#endif
