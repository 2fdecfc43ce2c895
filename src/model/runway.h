/* SPDX-License-Identifier: BSD-3-Clause */
/* runway.h - where flights pass through memory that the ranks of a communicator share
 * (model/flight.h): a few sets of streams, each for one flight at a time.  No call of the MPI.
 *
 * The n-th begin of a communicator takes runway n modulo their number, on all ranks; if another
 * flight has it there, it waits in line.  So what a stream carries is the same, in the same order,
 * on both of its ends. */
#ifndef CCO_RUNWAY_H
#define CCO_RUNWAY_H

#include "core/comm.h"
#include "transport/rma/window.h"
#include "transport/shm/segment.h"
#include "transport/stream/stream.h"

enum {
    CCO_RUNWAYS = 4,             /* for each course; */
    CCO_RUNWAY_SHARE = 128 << 10 /* bytes of each for a rank, or more where many ranks need it */
};

struct cco_flight; /* model/yard.h */

typedef struct cco_runway {
    cco_area area;
    cco_stream stream;
    struct cco_flight *last; /* of those that have it and wait for it; NULL: it is free */
} cco_runway;

typedef struct cco_runways {
    cco_segment segment;
    cco_window window; /* or this */
    char **shares;     /* where the shares of the ranks begin */
    unsigned number;   /* of begins */
    cco_runway list[CCO_RUNWAYS];
} cco_runways;

/* Makes the runways of a course; collective.  NULL on all ranks if they share no memory, or there
 * is none. */
cco_runways *cco_runways_make(cco_comm *state, cco_course course);

/* Afterwards no flight may have one.  Local; NULL: nothing. */
void cco_runways_free(cco_runways *runways);

/* The runway of the next begin. */
static inline cco_runway *cco_runway_next(cco_runways *runways)
{
    return &runways->list[runways->number++ % CCO_RUNWAYS];
}

#endif
