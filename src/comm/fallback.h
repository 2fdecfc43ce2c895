/* SPDX-License-Identifier: BSD-3-Clause */
/* fallback.h - one implementation runs instead of another.  Every such hand-over passes here, so
 * that CRESTA_FALLBACK (warn, silent, error) applies to all of them alike. */
#ifndef CCO_FALLBACK_H
#define CCO_FALLBACK_H

#include "comm/comm.h"

typedef struct cco_fallback {
    const char *call;    /* the call's name; NULL: all calls on the communicator */
    const char *asked;   /* what cannot do it, as the user named it: "p2p:ring" */
    const char *why;     /* a phrase about that: "needs a commutative operation" */
    const char *instead; /* what runs */
    bool reports;        /* this rank is the one that prints */
    bool forbidden;      /* whatever CRESTA_FALLBACK says: the results would not be reproducible */
} cco_fallback;

/* All ranks of the communicator come here for the same call, or none.  Reports the fallback unless
 * bit `bit` of `*reported` is set, and sets it: a program may have thousands of communicators, and
 * go on after errors.  Returns MPI_SUCCESS if `instead` may run, MPI_ERR_UNSUPPORTED_OPERATION with
 * CRESTA_FALLBACK=error. */
int cco_fall_back(const cco_comm *state, const cco_fallback *fallback, uint32_t *reported, int bit);

#endif
