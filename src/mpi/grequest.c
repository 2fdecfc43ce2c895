/* SPDX-License-Identifier: BSD-3-Clause */
/* grequest.c - see grequest.h. */
#include "mpi/grequest.h"

#include <stddef.h>

#include "base/log.h"

int cco_our_requests;

static _Thread_local MPI_Request only_tested; /* 0 is none of ours in either MPI */

void cco_grequest_only_test(MPI_Request request)
{
    only_tested = request;
}

static int grequest_query(void *extra, MPI_Status *status)
{
    const cco_grequest *g = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return g == NULL || only_tested == g->request ? MPI_SUCCESS : *g->rc;
}

static int grequest_end(void *extra)
{
    const cco_grequest *g = extra;
    if (g != NULL) {
        g->ended(g->what);
        cco_our_requests_add(-1);
    }
    return MPI_SUCCESS;
}

static int grequest_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

void cco_grequest_start(cco_grequest *g, MPI_Request *request)
{
    cco_our_requests_add(1); /* before MPI_Wait can have the request */
    if (PMPI_Grequest_start(grequest_query, grequest_end, grequest_cancel, g, &g->request) !=
        MPI_SUCCESS)
        cco_fatal("the MPI refuses a generalized request"); /* other ranks wait for this one */
    *request = g->request;
}

int cco_grequest_empty(MPI_Request *request)
{
    return PMPI_Grequest_start(grequest_query, grequest_end, grequest_cancel, NULL, request);
}
