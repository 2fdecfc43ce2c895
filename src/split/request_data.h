/* SPDX-License-Identifier: BSD-3-Clause */
/* request_data.h - what a call of the MPI's own may still read (progress/copies.h), kept until its
 * request ends.  (Operations of ours keep their copies themselves.)
 *
 * The request is the MPI's, so the program may end it in any way.  The interposed MPI_Wait* and
 * MPI_Test* let go of what it kept (interpose/wait.c).  Where they are passed by, the handle tells:
 * when the MPI gives the same one again, the call that had it before is over.  So there are never
 * more leftovers than handles in use at once. */
#ifndef CCO_REQUEST_DATA_H
#define CCO_REQUEST_DATA_H

#include <stdint.h>

#include "progress/copies.h"

typedef struct cco_request_data cco_request_data;

/* Makes an entry for a request that begins next: with its copies, NULL if none, which the entry has
 * from now on.  NULL if memory has run out. */
cco_request_data *cco_request_data_make(cco_copies *copies);

/* What is to be done once when the request has ended, and what frees its data then, or without
 * it. */
void cco_request_data_finishes(cco_request_data *pending, void (*finish)(void *),
                               void (*release)(void *), void *data);

/* The request was found to be over, but has not ended. */
void cco_request_data_found_over(MPI_Request request);

/* The request has begun.  `polled`: the progress thread polls until it ends.  `holds`: it stays out
 * of the MPI until then (cco_request_data_hold). */
void cco_request_data_add(cco_request_data *pending, bool polled, bool holds, MPI_Request request);

/* It has not begun: frees the entry and its copies. */
void cco_request_data_free(cco_request_data *pending);

/* An operation of ours has this request: the call that had the handle before is over. */
void cco_request_data_over(MPI_Request request);

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
void cco_request_data_note(cco_notes *notes, int count, const MPI_Request requests[]);
void cco_request_data_settle(cco_notes *notes, const MPI_Request requests[]);

/* True if a call starts a reduction that keeps the progress thread out of the MPI until it ends; it
 * stays out from now on.  Then either what is kept for the request lets go of it, or
 * cco_progress_thread_hold. */
bool cco_request_data_hold(const cco_call *call);

/* Frees all: no call is under way any more. */
void cco_request_data_end(void);

#endif
