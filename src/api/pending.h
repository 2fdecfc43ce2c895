/* SPDX-License-Identifier: BSD-3-Clause */
/* pending.h - what a call of the MPI's own may still read (progress/copies.h), kept until its
 * request ends.  (Operations of ours keep their copies themselves.)
 *
 * The request is the MPI's, so the program may end it in any way.  The interposed MPI_Wait* and
 * MPI_Test* let go of what it kept (interpose/wait.c).  Where they are passed by, the handle tells:
 * when the MPI gives the same one again, the call that had it before is over.  So there are never
 * more leftovers than handles in use at once. */
#ifndef CCO_PENDING_H
#define CCO_PENDING_H

#include <stdint.h>

#include "progress/copies.h"

typedef struct cco_pending cco_pending;

/* Makes an entry for a request that begins next: with its copies, NULL if none, which the entry has
 * from now on.  NULL if memory has run out. */
cco_pending *cco_pending_make(cco_copies *copies);

/* What is to be done once when the request has ended, and what frees its data then, or without
 * it. */
void cco_pending_finishes(cco_pending *pending, void (*finish)(void *), void (*release)(void *),
                          void *data);

/* The request was found to be over, but has not ended. */
void cco_pending_found_over(MPI_Request request);

/* The request has begun.  `polled`: the progress thread polls until it ends.  `holds`: it stays out
 * of the MPI until then (cco_pending_hold). */
void cco_pending_add(cco_pending *pending, bool polled, bool holds, MPI_Request request);

/* It has not begun: frees the entry and its copies. */
void cco_pending_free(cco_pending *pending);

/* An operation of ours has this request: the call that had the handle before is over. */
void cco_pending_over(MPI_Request request);

/* Before `count` requests may end: notes what is kept for them, since their handles are gone
 * afterwards, or given anew.  Afterwards: frees it for those that are MPI_REQUEST_NULL now.  In
 * between it stays in the table: the program's error handler may run there and never come back. */
enum { CCO_NOTES_FEW = 16 };
typedef struct cco_note {
    MPI_Request request;
    uint64_t serial;
    int place; /* in the array of requests */
} cco_note;
typedef struct cco_notes {
    int count;
    cco_note few[CCO_NOTES_FEW], *many; /* NULL if they are few, or memory has run out */
} cco_notes;
void cco_pending_note(cco_notes *notes, int count, const MPI_Request requests[]);
void cco_pending_settle(cco_notes *notes, const MPI_Request requests[]);

/* True if a call starts a reduction that keeps the progress thread out of the MPI until it ends; it
 * stays out from now on.  Then either what is kept for the request lets go of it, or
 * cco_progress_thread_hold. */
bool cco_pending_hold(const cco_call *call);

/* Frees all: no call is under way any more. */
void cco_pending_end(void);

#endif
