/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder.h - a recording that is under way: the calls of a communicator since its begin.
 *
 * It observes the blocking calls of the communicator (CCO_WATCHED_NOTES), and refuses all others,
 * which its replays would miss. */
#ifndef CCO_RECORDER_H
#define CCO_RECORDER_H

#include "comm/comm.h"

struct cco_recorded; /* record/recorded.h */

typedef struct cco_recorder {
    cco_comm *state; /* NULL: the program has freed the communicator */
    struct cco_recorded **calls;
    int count, room;
    const char *failed;         /* why nothing comes of it; NULL: nothing is wrong */
    struct cco_recorder *outer; /* that this thread began before */
} cco_recorder;

/* The one on a communicator; NULL if there is none. */
static inline bool cco_is_recorded(const cco_comm *state)
{
    return state->watched & CCO_WATCHED_NOTES;
}

/* Begins one on a communicator that has none; it is this thread's last one. */
void cco_recorder_begin(cco_comm *state);

/* Takes the last one of this thread, which is over; NULL if there is none. */
cco_recorder *cco_recorder_take(void);
void cco_recorder_free(cco_recorder *recorder);

/* `change` more buffers of this thread's call are copies of the program's, which nobody has after
 * the call: such a call cannot be replayed. */
void cco_recorder_passes_copies(int change);

/* A call on such a communicator, before it runs, and what it returned.  Its error handler may not
 * come back. */
void cco_recorder_note(cco_comm *state, const cco_way *way, const cco_call *call);
void cco_recorder_ended(cco_comm *state, int rc);

#endif
