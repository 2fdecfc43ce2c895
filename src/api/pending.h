/* SPDX-License-Identifier: BSD-3-Clause */
/* pending.h - what an operation under way may still read, kept until its request ends.
 *
 * The request is the MPI's own, so the program may end it in any way.  The interposed MPI_Wait* and
 * MPI_Test* let go of what it kept (interpose/wait.c).  Where they are passed by, the handle tells:
 * when the MPI gives the same one again, the operation that had it before is over.  So there are
 * never more leftovers than handles in use at once. */
#ifndef CCO_PENDING_H
#define CCO_PENDING_H

#include <stddef.h>
#include <stdint.h>

#include "core/call.h"

/* In one piece of memory, but for copies of a send buffer and of counts, and what a Fortran call
 * made. */
typedef struct cco_pending {
    MPI_Request request;
    uint64_t serial;          /* no two have the same; 0 is none */
    struct cco_pending *next; /* of its bucket */
    char *send;               /* protected buffer, NULL if none */
    void *types[2];           /* arrays that were made for the call, NULL if none */
    void *counts;             /* of native/empty.h, NULL if none */
    struct cco_held *held;    /* of copies_types.c, NULL if none */
    bool counted;             /* the progress thread polls as long as it is under way, */
    bool holds;               /* or stays out of the MPI (cco_progress_thread_hold) */
    _Alignas(max_align_t) char arrays[];
} cco_pending;

extern int cco_pending_count; /* use cco_pending_any */

/* True if anything is kept.  A process that never begins a call with arrays sees nothing else. */
static inline bool cco_pending_any(void)
{
    return __atomic_load_n(&cco_pending_count, __ATOMIC_ACQUIRE) > 0;
}

/* A request begins, with what is kept for it (or NULL).  It has a place here in any case if the
 * progress thread shall poll as long as it is under way, and if MPI_Wait* and MPI_Test* are to
 * progress it; of a call that was no begin only arrays are kept. */
typedef enum cco_pending_kind {
    CCO_PENDING_MPIS,
    CCO_PENDING_OURS,
    CCO_PENDING_ARRAYS
} cco_pending_kind;
void cco_pending_add(cco_pending *pending, cco_pending_kind kind, bool holds, MPI_Request request);

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

void cco_pending_free(cco_pending *pending); /* NULL: nothing */

/* Frees all: no operation is under way any more. */
void cco_pending_end(void);

#endif
