/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - on which nodes the ranks of a communicator are.  Only rules that ask for it cost the
 * communication to find out: an allreduce of 8 bytes a rank. */
#ifndef CCO_NODES_H
#define CCO_NODES_H

#include "core/comm.h"
#include "tune/rules.h"

/* From now on each communicator finds out in its set-up, if a rule asks for it.  For rules that all
 * ranks of the job have.  NULL: no rules. */
void cco_nodes_wanted_by(const cco_rules *rules);

/* Finds out, if a rule wanted it, or one of `more` does (NULL: none), and nobody has yet.
 * Collective.  The ranks have the same rules. */
void cco_nodes_find(cco_comm *state, const cco_rules *more);

#endif
