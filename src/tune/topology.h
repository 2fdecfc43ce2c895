/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - what the ranks of a communicator agree on about its topology, and what the MPI below
 * does wrong there. */
#ifndef CCO_TOPOLOGY_H
#define CCO_TOPOLOGY_H

#include "comm/comm.h"

/* Finds the neighbors of this rank, and what all ranks have in common.  Collective, in the set-up
 * of a communicator; without a topology it does nothing. */
void cco_topology_find(cco_comm *state);

/* Tells the ranks of each node each other's neighbors, where a choice is of a model that chooses
 * by nodes, and there are several with several ranks.  Collective, after the choices. */
void cco_topology_find_mates(cco_comm *state);

/* Why a model must not run a neighborhood collective there; NULL if it may.  Equal on all
 * ranks. */
const char *cco_topology_refuses(const cco_comm *state, const cco_way *way, cco_coll coll);

/* True for a neighborhood collective with a rule in force which this MPI gets wrong on this
 * topology, in some of its calls.  Equal on all ranks. */
bool cco_topology_is_wrong(const cco_comm *state, cco_coll coll);

/* Such a collective is called there: once in a process a warning says what is wrong, and what runs.
 * For any other it says nothing. */
void cco_topology_warn(const cco_comm *state, cco_coll coll);

#endif
