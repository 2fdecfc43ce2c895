/* SPDX-License-Identifier: BSD-3-Clause */
/* yard.h - where the flights of a communicator come from and go to (model/flight.h), and their
 * requests.
 *
 * A flight that has ended serves the next begin, with the schedules that it has built.  The program
 * may free the communicator first: then the last flight to end frees what they all use. */
#ifndef CCO_YARD_H
#define CCO_YARD_H

#include "model/scheduled.h"
#include "transport/p2p/p2p.h"

typedef struct cco_yard cco_yard;

typedef struct cco_flight {
    cco_yard *yard;
    cco_scheduled own;
    cco_p2p p2p;
    cco_call call;
    cco_frame frame;
    const cco_algo *algo;
    cco_plan *plan;      /* that runs */
    bool shares;         /* it is not the call's own, but brings counts that it needs */
    cco_binding sharing; /* of that */
    MPI_Datatype *types; /* duplicates that the end needs, */
    int held;            /* so many */
    int rc;              /* what its request tells */
    MPI_Request request;
    struct cco_flight *next;
} cco_flight;

/* Makes the yard of a communicator, or finds it; collective. */
void cco_yard_make(cco_comm *state);

/* NULL if there is none. */
cco_yard *cco_yard_of(const cco_comm *state);

/* A flight for the next begin on a communicator, which is counted; NULL when memory runs out. */
cco_flight *cco_yard_leave(cco_comm *state);

/* Its messages are over. */
void cco_yard_lands(cco_flight *f);

/* It has no request, and can be used again. */
void cco_yard_take_back(cco_flight *f);

/* Makes its request, which gives it back when the program has ended it. */
int cco_yard_request(cco_flight *f, MPI_Request *request);

#endif
