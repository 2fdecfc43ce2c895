/* SPDX-License-Identifier: BSD-3-Clause */
/* partial_request.h - begun calls by their request, where the program may ask which of the blocks
 * that they receive are there (CRESTA_Coll_some).
 *
 * An operation of ours leaves when its request ends.  A call of the MPI's own may end past us: what
 * is left of it goes when its handle is given again, so there are never more leftovers than handles
 * in use at once. */
#ifndef CCO_PARTIAL_REQUEST_H
#define CCO_PARTIAL_REQUEST_H

#include "mpi/request_table.h"

struct cco_operation; /* progress/operation.h */

typedef struct cco_partial_request {
    cco_request_entry entry;         /* first */
    struct cco_operation *operation; /* NULL: the MPI's own */
    int blocks;                      /* that it receives */
    int told;                        /* of which the program knows */
} cco_partial_request;

/* An operation of ours has this request from now on, or no more. */
void cco_partial_request_add(cco_partial_request *s, MPI_Request request,
                             struct cco_operation *operation, int blocks);
void cco_partial_request_remove(cco_partial_request *s);

/* The MPI's own call has begun.  MPIs give one handle to all calls that are complete from the
 * start: where this one may be such, the request becomes one that no other call has.  Returns
 * MPI_SUCCESS, or the class of an error, of which the MPI has told the program. */
int cco_partial_request_native(MPI_Request *request, int blocks);

/* A request of the MPI's own ends, if it is one. */
void cco_partial_request_over(MPI_Request request);

/* What began with this request; NULL if nothing with blocks did. */
cco_partial_request *cco_partial_request_find(MPI_Request request);

/* Gives the program the blocks that have come since the last time, at most `most`: `*n` of them; 0
 * if there are none now, MPI_UNDEFINED if there are none to come.  Returns MPI_SUCCESS, or the
 * class of the error with which the call ended: there are no more blocks then. */
int cco_partial_request_take(cco_partial_request *s, int most, int blocks[], int *n);

/* No call is under way any more. */
void cco_partial_request_end(void);

#endif
