/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - on which nodes the ranks of a communicator are.
 *
 * That all are on one they know without asking (comm/facts.h).  Otherwise it takes an allreduce of
 * 8 bytes a rank, only where a rule or a profile asks. */
#ifndef CCO_NODES_H
#define CCO_NODES_H

#include "comm/comm.h"
#include "tune/rules.h"

/* From now on each communicator finds out in its set-up, if a rule asks for it.  For rules that all
 * ranks of the job have.  NULL: no rules. */
void cco_nodes_wanted_by(const cco_rules *rules);

/* Lets them find out without a rule, for what all ranks of the job have asked for. */
void cco_nodes_want(void);

/* In MPI_Init: an error of cco_configured if CRESTA_NODES places fewer ranks than there are. */
void cco_nodes_check_imposed(void);

/* Finds out, if it was wanted, or one of `more` asks (NULL: no rules), and nobody has yet.
 * Collective, on a communicator whose facts are agreed on.  The ranks have the same rules. */
void cco_nodes_find(cco_comm *state, const cco_rules *more);

#endif
