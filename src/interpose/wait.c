/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - MPI_Wait*, MPI_Test* and MPI_Request_get_status, in the linked library too: they move on
 * what is ours (model/tower.h), and let go of what was kept for a request (api/kept.h).
 *
 * While nothing is kept, they read one number more than the MPI's own. */
#include "api/split.h"
#include "model/tower.h"

CCO_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!cco_kept_any())
        return PMPI_Wait(request, status);
    cco_kept *kept = cco_kept_take(1, request);
    cco_attend(1, request, true);
    const int rc = PMPI_Wait(request, status);
    cco_kept_settle(kept, request);
    return rc;
}

/* For api/async.c. */
int cco_our_wait(MPI_Request *request, MPI_Status *status) __attribute__((alias("MPI_Wait")));

CCO_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!cco_kept_any())
        return PMPI_Test(request, flag, status);
    cco_kept *kept = cco_kept_take(1, request);
    cco_flights_move(true);
    const int rc = PMPI_Test(request, flag, status);
    cco_kept_settle(kept, request);
    return rc;
}

CCO_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    if (!cco_kept_any())
        return PMPI_Waitall(count, requests, statuses);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_attend(count, requests, true);
    const int rc = PMPI_Waitall(count, requests, statuses);
    cco_kept_settle(kept, requests);
    return rc;
}

CCO_EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    if (!cco_kept_any())
        return PMPI_Testall(count, requests, flag, statuses);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_flights_move(true);
    const int rc = PMPI_Testall(count, requests, flag, statuses);
    cco_kept_settle(kept, requests);
    return rc;
}

CCO_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!cco_kept_any())
        return PMPI_Waitany(count, requests, index, status);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_attend(count, requests, false);
    const int rc = PMPI_Waitany(count, requests, index, status);
    cco_kept_settle(kept, requests);
    return rc;
}

CCO_EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    if (!cco_kept_any())
        return PMPI_Testany(count, requests, index, flag, status);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_flights_move(true);
    const int rc = PMPI_Testany(count, requests, index, flag, status);
    cco_kept_settle(kept, requests);
    return rc;
}

CCO_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[],
                            MPI_Status *statuses)
{
    if (!cco_kept_any())
        return PMPI_Waitsome(count, requests, done, indices, statuses);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_attend(count, requests, false);
    const int rc = PMPI_Waitsome(count, requests, done, indices, statuses);
    cco_kept_settle(kept, requests);
    return rc;
}

CCO_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                            MPI_Status *statuses)
{
    if (!cco_kept_any())
        return PMPI_Testsome(count, requests, done, indices, statuses);
    cco_kept *kept = cco_kept_take(count, requests);
    cco_flights_move(true);
    const int rc = PMPI_Testsome(count, requests, done, indices, statuses);
    cco_kept_settle(kept, requests);
    return rc;
}

/* Ends nothing. */
CCO_EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    cco_flights_move(true);
    return PMPI_Request_get_status(request, flag, status);
}
