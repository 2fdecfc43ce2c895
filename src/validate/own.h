/* SPDX-License-Identifier: BSD-3-Clause */
/* own.h - a check of a begun call, on memory of ours: when the call is over, the program may change
 * its buffers, and free types, before the reference has run. */
#ifndef CCO_OWN_H
#define CCO_OWN_H

#include "progress/copies.h"
#include "validate/check.h"

typedef struct cco_own {
    cco_covered out;     /* what the call writes, in the program's memory */
    cco_shadow given;    /* what it reads, as it was at its begin */
    cco_shadow found;    /* its receive buffer */
    cco_copies *arrays;  /* of counts and the like; NULL: it has none */
    MPI_Datatype *types; /* of ours, like those of the program, */
    int held;            /* and how many they are */
    size_t bytes;        /* of all copies; taken from the budget */
} cco_own;

/* Makes copies of what `check->call` reads, and points the call to them; then prepares the check,
 * with its own copies.  Without communication.  What is held after a failure too, cco_own_free and
 * cco_check_empty free. */
cco_skip cco_own_make(cco_own *own, cco_check *check);

/* The call is over: copies what it wrote.  Any thread; without the MPI. */
void cco_own_take(const cco_own *own);

void cco_own_free(cco_own *own);

#endif
