/* SPDX-License-Identifier: BSD-3-Clause */
/* node_window.h - windows of the MPI for a communicator on several nodes: one for the ranks of each
 * node, in memory that they share. */
#ifndef CCO_NODE_WINDOW_H
#define CCO_NODE_WINDOW_H

#include "comm/comm.h"
#include "sched/node_map.h"
#include "transport/rma/window.h"

/* Makes them, with a share for each rank that has rings of `ring` bytes for those of its node; a
 * rank that is alone there gets none.  Collective over the communicator, whose nodes all ranks
 * know.  NULL on all ranks, or on all why not: then there is none anywhere. */
const char *cco_node_window_make(cco_window *window, size_t ring, const cco_comm *state,
                                 cco_window_life life);

#endif
