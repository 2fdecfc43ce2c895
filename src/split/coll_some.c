/* SPDX-License-Identifier: BSD-3-Clause */
/* coll_some.c - CRESTA_Coll_some, CRESTA_Coll_testsome: which blocks have come. */
#include "split/split_end.h"
#include "split/split.h"
#include "base/log.h"
#include "progress/queue.h"
#include "progress/partial_request.h"

static int coll_some_refuse(const char *function, int error_class, const char *what)
{
    cco_say("%s: %s", function, what);
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, error_class);
    return error_class;
}

static int coll_some_some(const char *function, bool waits, MPI_Request request, int maxblocks,
                          int blocks[], int *n)
{
    int rc = MPI_SUCCESS, tries = CCO_PROGRESS_FIRST_TURN;
    *n = MPI_UNDEFINED;
    if (maxblocks < 1 || blocks == NULL)
        return coll_some_refuse(function, MPI_ERR_ARG, "there must be room for at least one block");
    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    cco_partial_request *s = cco_partial_request_find(request);
    if (s == NULL)
        return coll_some_refuse(
            function, MPI_ERR_REQUEST,
            "the request must be of a CRESTA_x_begin that receives several blocks");
    if (!waits)
        cco_queue_progress(true);
    rc = cco_partial_request_take(s, maxblocks, blocks, n);
    while (waits && rc == MPI_SUCCESS && *n == 0) {
        cco_progress_turn_alone(&tries);
        rc = cco_partial_request_take(s, maxblocks, blocks, n);
    }
    return rc;
}

int CRESTA_Coll_some(MPI_Request request, int maxblocks, int blocks[], int *n)
{
    return coll_some_some("CRESTA_Coll_some", true, request, maxblocks, blocks, n);
}

int CRESTA_Coll_testsome(MPI_Request request, int maxblocks, int blocks[], int *n)
{
    return coll_some_some("CRESTA_Coll_testsome", false, request, maxblocks, blocks, n);
}
