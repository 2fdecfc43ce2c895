/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison.h - what a rank keeps of a communicator whose calls are compared (match.h). */
#ifndef CCO_COMPARISON_H
#define CCO_COMPARISON_H

#include "match/signature.h"

typedef struct cco_match {
    MPI_Comm comm;       /* ours; */
    MPI_Request request; /* what is under way there: its making, or a begun call's signature; */
    bool there;          /* it is made; */
    MPI_Comm twin;       /* what MPI_Comm_idup makes, until its first call */
    cco_comm *state;     /* NULL: it has none yet, or the program has freed it */
    int rank, size;
    char name[MPI_MAX_OBJECT_NAME];
    bool ended; /* no call will follow */
    /* Calls of this rank: on rank 0, what some rank has not made yet, and how many each has made;
     * elsewhere, what has begun and is not sent yet. */
    cco_signature *own;
    uint64_t first, count; /* of `own`: numbers of calls */
    size_t room;
    cco_signature sent; /* last */
    uint64_t *made;
    cco_signature *theirs; /* the last of each */
    bool busy;             /* a thread compares */
    struct cco_match *next;
} cco_match;

#endif
