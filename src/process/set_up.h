/* SPDX-License-Identifier: BSD-3-Clause */
/* set_up.h - what the ranks of a communicator do together before the first call on it. */
#ifndef CCO_SET_UP_H
#define CCO_SET_UP_H

#include "comm/comm.h"

/* Makes ready what begins run over on a communicator that is set up; collective. */
void cco_begins_prepare(cco_comm *state);

/* A call begins there, the same on all ranks: the next blocking call makes ready what begins run
 * over.  A program without begins shall not pay for them. */
void cco_begins_want(cco_comm *state);

/* Chooses by the rules, and makes what the chosen models need; collective. */
void cco_set_up_choices(cco_comm *state);

/* The state of an intracommunicator, set up; NULL where there can be none.  Collective if it was
 * not. */
cco_comm *cco_prepare(MPI_Comm comm);

/* The program has made a communicator, or MPI_COMM_NULL; collective over it. */
void cco_set_up_made(MPI_Comm comm);

/* MPI_Comm_idup has begun to make a duplicate of `comm`. */
void cco_set_up_duplicates(MPI_Comm comm, MPI_Comm made);

/* In MPI_Init, once the MPI has begun: collective. */
void cco_set_up_job(void);

#endif
