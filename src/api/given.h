/* SPDX-License-Identifier: BSD-3-Clause */
/* given.h - what of a call's arguments means something on this rank, on any communicator. */
#ifndef CCO_GIVEN_H
#define CCO_GIVEN_H

#include "core/call.h"

typedef struct cco_given {
    bool inter;
    int rank, group; /* this rank, and how many there are on its side */
    int peers;       /* blocks of a buffer: ranks of the communicator, or of the other side */
} cco_given;

/* Asks the MPI, whose error it returns: of an invalid communicator it has been told then. */
int cco_given_to(const cco_call *call, cco_given *given);

/* True if this rank is the root of a rooted call. */
bool cco_given_root(const cco_call *call, const cco_given *given);

#endif
