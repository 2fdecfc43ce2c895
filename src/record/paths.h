/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.h - what the plans of a recording run over: a channel and stream sets of its own. */
#ifndef CCO_RECORD_PATHS_H
#define CCO_RECORD_PATHS_H

#include "record/replay.h"

struct cco_recorded; /* record/recorded.h */

/* Makes what the calls need; their paths become what there is: messages where there is no memory,
 * none where the MPI could not make a communicator.  Collective. */
void cco_replay_paths_open(cco_replay *replay);
void cco_replay_paths_close(cco_replay *replay); /* local */

/* Brings a call the counts that its algorithm asks for; collective.  Returns MPI_SUCCESS or an MPI
 * error class. */
int cco_replay_paths_share(cco_replay *replay, struct cco_recorded *call);

#endif
