/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.h - what some ranks of a communicator agree on among themselves, by messages on a tree:
 * neither a communicator of theirs nor the other ranks are needed. */
#ifndef CCO_MEETING_H
#define CCO_MEETING_H

#include <stdbool.h>
#include <stddef.h>

#include "core/awaited.h"

typedef struct cco_meeting {
    MPI_Comm comm; /* of ours, and */
    int tag; /* one there that no other message of ours has: between them nothing is under way */
    const int *ranks;           /* who takes part, the same list on all of them */
    int count, place;           /* how many, and this rank's place among them */
    cco_watch *watch;           /* ends a wait for a process that has failed */
    const cco_channel *channel; /* has `comm` and `tag`; NULL: waits have no end */
} cco_meeting;

/* What the first of them has, goes to all. */
void cco_meeting_tell(const cco_meeting *meeting, void *data, size_t bytes);

/* True on all of them if it is on each; false on those who waited in vain. */
bool cco_meeting_all(const cco_meeting *meeting, bool mine);

#endif
