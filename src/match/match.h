/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h - CRESTA_DEBUG=match: the ranks of a communicator compare each collective call before it
 * runs, and say who differs instead of hanging in it.
 *
 * Each rank sends what the standard wants to be equal (match/signature.h) to rank 0 of the
 * communicator, by a message on a communicator of ours.  Before a blocking call, rank 0 waits for
 * those of all ranks and lets them go; so each call waits for the last rank, and costs rank 0 two
 * messages for each other.  A call that only starts waits for nobody: rank 0 compares it while it
 * waits in some call, before the next blocking one, or in MPI_Finalize.  When ranks differ, one
 * message says which, and the job ends with exit code 2.  A rank that does not come is named after
 * some seconds; then the others go on waiting. */
#ifndef CCO_MATCH_H
#define CCO_MATCH_H

#include "core/comm.h"

/* When the program has made a communicator, or in its set-up; collective. */
void cco_match_set_up(cco_comm *state);

/* MPI_Comm_idup has begun to make `made`; waits for nobody.  It may be freed without a call. */
void cco_match_duplicates(MPI_Comm comm, MPI_Comm made);
void cco_match_freed(MPI_Comm comm);

/* Before the set-up of a communicator in its first blocking call, where the ranks of a wrong
 * program would wait for each other without a word. */
void cco_match_first(MPI_Comm comm, cco_coll coll);

/* Before a blocking call; `valid`: the MPI will not refuse its arguments. */
void cco_match_call(cco_comm *state, const cco_call *call, bool valid);

/* A call starts, or makes a persistent request; waits for nobody.  Nothing where the state is NULL
 * or not set up. */
void cco_match_begun(cco_comm *state, const cco_call *call, bool valid, bool persistent);

/* In MPI_Finalize: what has only begun is compared, on communicators that are freed as well. */
void cco_match_end(void);

/* What has come to rank 0 of a communicator meanwhile is compared.  For who waits. */
void cco_match_poll(void);

#endif
