/* SPDX-License-Identifier: BSD-3-Clause */
/* grequest.h - requests of the MPI that the library completes: they work in all waits and tests of
 * all MPIs.  Their status is empty, as of an operation without a message. */
#ifndef CCO_GREQUEST_H
#define CCO_GREQUEST_H

#include "mpi/mpi_compat.h"

/* How many requests of the program concern the library: those made here, and those for which
 * something is kept (split/request_data.h), from the begin to the end of the request.  Waits and
 * tests of a program without any read no more than this. */
extern int cco_our_requests; /* use the functions */

static inline bool cco_our_requests_any(void)
{
    return __atomic_load_n(&cco_our_requests, __ATOMIC_ACQUIRE) > 0;
}

static inline void cco_our_requests_add(int change)
{
    __atomic_fetch_add(&cco_our_requests, change, __ATOMIC_RELEASE);
}

/* Part of the data of an operation. */
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
