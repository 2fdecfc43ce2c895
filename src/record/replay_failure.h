/* SPDX-License-Identifier: BSD-3-Clause */
/* replay_failure.h - replays when a process has failed (comm/failure.h): they end with the error,
 * and later ones do not begin. */
#ifndef CCO_REPLAY_FAILURE_H
#define CCO_REPLAY_FAILURE_H

#include "record/replay.h"

/* Who looks after the processes of a recording that is being made, until it is made: then it may
 * outlive its communicator. */
void cco_replay_watch(cco_replay *replay);
void cco_replay_made(cco_replay *replay);

/* What a watch calls: this rank takes no further part in memory that is shared; from any thread. */
void cco_replay_lose(void *replay, int error, int lost);

/* cco_replay_lose, and the others learn of it. */
void cco_replay_leave(cco_replay *replay, int error);

/* While it is made, after `error`: whether a failure is known here.  Then its communicator is of no
 * use, and the others learn of it. */
bool cco_replay_has_failed(cco_replay *replay, int error);

/* A poll that calls the MPI has come to an error, `rc`: if that is of a failure, the others learn
 * of it at once, since the program may ask for the end of its replay much later. */
void cco_replay_stopped(cco_replay *replay);

/* What replays end with from now on; MPI_SUCCESS while nothing has failed. */
static inline int cco_replay_error(const cco_replay *replay)
{
    return __atomic_load_n(&replay->error, __ATOMIC_ACQUIRE);
}

/* After a poll that moved something, or nothing: whether what a plan waits for can still come.
 * MPI_SUCCESS, or the error with which its engine has stopped. */
int cco_replay_look_around(cco_replay *replay, bool moved, bool calls_mpi);

#endif
