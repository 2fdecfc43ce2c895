/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison.h - what a rank keeps of a communicator whose calls are compared (match.h). */
#ifndef CCO_COMPARISON_H
#define CCO_COMPARISON_H

#include "match/signature.h"

typedef struct cco_match_sent { /* of a begun call; kept until the MPI has taken it */
    cco_signature signature;
    MPI_Request request;
    struct cco_match_sent *next;
} cco_match_sent;

typedef struct cco_match {
    MPI_Comm comm; /* ours */
    cco_comm *state;
    cco_match_sent *sent;
    /* On rank 0: its own calls that some rank has not made yet, and how many each has made. */
    cco_signature *own;
    uint64_t first, count; /* of `own`: numbers of calls */
    size_t room;
    uint64_t *made;
    cco_signature *theirs; /* the last of each */
    bool busy;             /* a thread compares */
    struct cco_match *next;
} cco_match;

#endif
