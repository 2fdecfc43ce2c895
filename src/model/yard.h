/* SPDX-License-Identifier: BSD-3-Clause */
/* yard.h - a flight (model/flight.h); where those of a communicator come from and go to; their
 * requests.
 *
 * A flight that has ended serves the next begin, with the schedules that it has built.  The program
 * may free the communicator first: then the last flight to end frees what they all use. */
#ifndef CCO_YARD_H
#define CCO_YARD_H

#include "model/rhythm.h"
#include "model/runway.h"
#include "model/scheduled.h"
#include "transport/p2p/p2p.h"

typedef struct cco_yard cco_yard;

typedef struct cco_flight {
    cco_yard *yard;
    cco_scheduled own;
    cco_p2p p2p;
    cco_runway *runway; /* NULL: it is on messages */
    bool starts;        /* its schedule has not started */
    bool counted;       /* the helper looks because of it */
    cco_call call;
    cco_frame frame;
    const cco_algo *algo;
    cco_plan *plan;      /* that runs */
    cco_rhythm rhythm;   /* of that, on messages */
    bool shares;         /* it is not the call's own, but brings counts that it needs */
    cco_binding sharing; /* of that */
    MPI_Datatype *types; /* duplicates that the end needs, */
    int held;            /* so many */
    int rc;              /* what its request tells */
    size_t kept;         /* bytes, while it is idle */
    MPI_Request request;
    struct cco_flight *next, *behind; /* of a list; of those who wait for a runway */
} cco_flight;

/* What it takes to move it. */
static inline cco_help cco_flight_kind(const cco_flight *f)
{
    return f->runway != NULL ? CCO_HELP_MEMORY : CCO_HELP_MPI;
}

/* One look at a flight, of whoever has it; true at the end of its schedule, good or bad.  Calls the
 * MPI only on messages.  (model/flight.c) */
bool cco_flight_move(cco_flight *f, bool *moved);

/* After that: brings the data to their place, lets go of what it held.  (model/flight.c) */
void cco_flight_end(cco_flight *f);

/* Makes the yard of a communicator with what a course needs, or finds it; collective. */
void cco_yard_make(cco_comm *state, cco_course course);

/* True if there is what a course needs. */
bool cco_yard_has(const cco_comm *state, cco_course course);

/* A flight for the next begin on a communicator over a course, which is counted; NULL when memory
 * runs out. */
cco_flight *cco_yard_leave(cco_comm *state, cco_course course);

/* It is over. */
void cco_yard_lands(cco_flight *f);

/* It has no request, and can be used again. */
void cco_yard_take_back(cco_flight *f);

/* Makes its request, which gives it back when the program has ended it. */
int cco_yard_request(cco_flight *f, MPI_Request *request);

/* From now on this thread only looks at a request, until another or MPI_REQUEST_NULL: if it is of a
 * flight that failed, its end will say so, and no error handler may be told twice. */
void cco_yard_hush(MPI_Request request);

#endif
