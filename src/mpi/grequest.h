/* SPDX-License-Identifier: BSD-3-Clause */
/* grequest.h - requests of the MPI that the library completes: they work in all waits and tests of
 * all MPIs.  Their status is empty, as of an operation without a message. */
#ifndef CCO_GREQUEST_H
#define CCO_GREQUEST_H

#include "core/mpi_compat.h"

/* Of an operation, part of its data. */
typedef struct cco_grequest {
    MPI_Request request;
    const int *rc;             /* what its end returns */
    void (*ended)(void *what); /* once, when its end has come; then the operation may go */
    void *what;
} cco_grequest;

/* Makes a request, which counts as one of ours until its end. */
void cco_grequest_start(cco_grequest *grequest, MPI_Request *request);

/* Makes one of no operation.  Returns MPI_SUCCESS, or what the MPI says. */
int cco_grequest_empty(MPI_Request *request);

/* From now on this thread only tests `request`, until it names another or MPI_REQUEST_NULL.  The
 * error of an operation that failed is reported when its request ends, not by such a test: an
 * error handler must not be called twice. */
void cco_grequest_only_test(MPI_Request request);

#endif
