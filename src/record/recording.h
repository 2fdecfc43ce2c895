/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h - from a recording that is over to what can be replayed, and the handles of these. */
#ifndef CCO_RECORDING_H
#define CCO_RECORDING_H

#include "record/replay.h"

/* Makes the plans of a recording, whose calls it takes, and gives it a handle.  Collective;
 * MPI_SUCCESS on all ranks or an MPI error class on all, and one has said why where that is not for
 * lack of memory. */
int cco_recording_make(cco_recorder *recorder, int *handle);

/* What a handle stands for; NULL if it is none. */
cco_replay *cco_recording_of(int handle);

/* Messages of the merged calls that this rank sent before they were merged, and sends now. */
int cco_recording_sends(const cco_replay *replay);
int cco_replay_sends(const cco_replay *replay);

/* Frees one of which no replay is under way, and its handle. */
void cco_recording_free(int handle);

/* MPI_Finalize: frees those that the program has not. */
void cco_recordings_end(void);

#endif
