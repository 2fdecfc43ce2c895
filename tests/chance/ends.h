/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.h - an array of requests, and every call that ends some of them. */
#ifndef CHANCE_ENDS_H
#define CHANCE_ENDS_H

#include "flow.h"

enum { END_MOST = 64 };

struct end {
    int count, active;
    int wanted; /* the place of the one to wait for, or -1 */
    MPI_Request requests[END_MOST];
    struct item *items[END_MOST]; /* NULL: MPI_REQUEST_NULL */
    bool done[END_MOST];          /* what the call says has ended */
    bool has_status[END_MOST];
    MPI_Status statuses[END_MOST];
};

void end_swap(struct end *end, int i, int j);

/* One call at random, or several until the wanted one has ended. */
void end_some(struct end *end, dice *own);
void end_wait_for(struct end *end, dice *own);

/* The status of a message that was received says where it came from, and how long it was. */
void end_check_status(const struct end *end, int i);

#endif
