/* SPDX-License-Identifier: BSD-3-Clause */
/* matcher.h - a transport between ranks of one process, for engines that are tested without an MPI.
 *
 * Rendezvous: data go straight from the sender's memory to the receiver's when both have come, so
 * that an engine which goes on too early spoils them. */
#ifndef CCO_MATCHER_H
#define CCO_MATCHER_H

#include "sched/transport.h"

typedef struct cco_message cco_message;

/* Zero but for `reduce` to begin with. */
typedef struct cco_matcher {
    void (*reduce)(const void *from, void *into, size_t n); /* one element of `n` bytes */
    cco_message *first;                                     /* messages that nobody took yet */
    bool mismatch; /* a message and its receive were not equal in size */
} cco_matcher;

/* What the transfers of one rank share. */
typedef struct cco_endpoint {
    cco_matcher *matcher;
    int rank;
} cco_endpoint;

extern const cco_transport cco_transport_matcher; /* `shared` is a cco_endpoint */

#endif
