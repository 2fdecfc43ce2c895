/* SPDX-License-Identifier: BSD-3-Clause */
/* begun.h - schedules that run while the program does something else: what a begin starts.
 *
 * An operation is a call under way with everything that it needs: schedule, scratch, packed data.
 * Its path is the MPI's sends and receives, in tags of its own, or memory that the ranks share
 * (progress/stream_sets.h), where it takes no call of the MPI to move.  Its request is a
 * generalized one of the MPI (MPI 4.0, section 13.2).  Operations move when somebody looks at them
 * (progress/queue.h). */
#ifndef CCO_BEGUN_H
#define CCO_BEGUN_H

#include "core/comm.h"

/* True if a rule of a communicator lets begins run as operations, the same on all ranks. */
bool cco_operations_possible(cco_comm *state);

/* Makes what they need, in a collective call; nothing if it is there. */
void cco_operations_prepare(cco_comm *state);

/* What a call on a communicator that is set up begins over, the same on all ranks.  `*why` says why
 * that is not what its rule asks for; NULL if it is. */
cco_path cco_operation_path(const cco_comm *state, const cco_way *way, const cco_call *call,
                            const char **why);

/* True if a begin of such a call could go over a path if that were made ready, which it is not
 * yet; the same on all ranks. */
bool cco_operation_needs_prepare(const cco_comm *state, const cco_way *way, const cco_call *call);

/* What its rule asks for and cannot be had here, for CRESTA_FALLBACK=error; NULL if it can, or if
 * no begin ever has it: a model that leaves its begins to another, the program's operations. */
const char *cco_operation_lacks(const cco_comm *state, const cco_way *way, const cco_call *call);

/* Begins a call over such a path; its arrays must stay until the request ends, types and
 * communicator need not.  Neither waits nor communicates but over the path.  Returns MPI_SUCCESS,
 * MPI_ERR_UNSUPPORTED_OPERATION where CRESTA_FALLBACK=error forbids the algorithm that can do it,
 * or another MPI error class. */
int cco_operation_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        MPI_Request *request);

#endif
