/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_requests.c - see mpi_bugs.h; mpi_bugs.c is the program. */
#include "mpi_bugs.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#ifdef MPICH_NUMVERSION
/* A persistent collective that was never started is complete for MPI_Test and all others. */
int inactive(void)
{
    int one = 1, sum = 0, done = 0;
    MPI_Request request;
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return !done;
}

/* MPI_Testall fails once a persistent collective is complete. */
int testall(void)
{
    int one = 1, sum = 0, done = 0, rc = MPI_SUCCESS;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (rc == MPI_SUCCESS && !done)
        rc = MPI_Testall(1, &request, &done, &status);
    MPI_Request_free(&request);
    return rc != MPI_SUCCESS;
}
/* A persistent collective in the place of a persistent receive from nobody that was freed. */
int after_none(void)
{
    int one = 1, sum = 0, done = 0;
    MPI_Request request;
    MPI_Recv_init(&sum, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int i = 0; i < 100000 && !done; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return !done;
}
#else
int after_none(void)
{
    return 0;
}

int inactive(void)
{
    return 0;
}

int testall(void)
{
    return 0;
}
#endif

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int forget(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *complete_late(void *request)
{
    usleep(100000);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* MPI_Waitall of a generalized request that another thread completes, and of a null one: an
 * assertion of the MPI fails. */
int null_grequest(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, request;
    MPI_Status statuses[2];
    pthread_t thread;
    MPI_Grequest_start(query, forget, cancel, NULL, &requests[0]);
    request = requests[0];
    pthread_create(&thread, NULL, complete_late, &request);
    const int rc = MPI_Waitall(2, requests, statuses);
    pthread_join(thread, NULL);
    return rc != MPI_SUCCESS;
}
