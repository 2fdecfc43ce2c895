/* SPDX-License-Identifier: BSD-3-Clause */
/* office.h - a transport between ranks of one process, for engines that are tested without an MPI.
 *
 * Rendezvous: data go straight from the sender's memory to the receiver's when both have come, so
 * that an engine which goes on too early spoils them. */
#ifndef CCO_OFFICE_H
#define CCO_OFFICE_H

#include "sched/transport.h"

typedef struct cco_letter cco_letter;

/* Zero but for `reduce` to begin with. */
typedef struct cco_office {
    void (*reduce)(const void *from, void *into, size_t n); /* one element of `n` bytes */
    cco_letter *first;                                      /* messages that nobody took yet */
    bool mismatch; /* a message and its receive were not equal in size */
} cco_office;

/* What the flights of one rank share. */
typedef struct cco_desk {
    cco_office *office;
    int rank;
} cco_desk;

extern const cco_transport cco_transport_office; /* `shared` is a cco_desk */

#endif
