/* SPDX-License-Identifier: BSD-3-Clause */
/* failed_sends.c - a process fails when large data are on their way to it: the request of the send
 * is not freed under ULFM, where a send that fails after that ends the job (mpi/ulfm.h).  For
 * tests/python/test_library_failures.py, which reads what rank 0 prints.
 *
 * Functions of the MPI are replaced, also for the library: rank 0 kills rank 1 as soon as it has
 * started to send, and the send stays under way, as if the MPI had not noticed yet. */
#define _GNU_SOURCE
#include <cresta_sp_coll.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proc_failed.h"

enum { VICTIM = 1, LARGE = 300000 };

static double values[LARGE];
static int victim; /* its process, when it is to end */
static int freed;  /* requests, from then on */

typedef int send_function(const void *data, int count, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request *request);

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    send_function *next;
    find("PMPI_Isend", &next);
    const int rc = next(data, count, type, to, tag, comm, request);
    if (victim != 0 && to == VICTIM)
        kill(victim, SIGKILL);
    return rc;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *);
    *flag = 0;
    find("PMPI_Test", &next);
    return victim == 0 ? next(request, flag, status) : MPI_SUCCESS;
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    int (*next)(MPI_Request, int *, MPI_Status *);
    *flag = 0;
    find("PMPI_Request_get_status", &next);
    return victim == 0 ? next(request, flag, status) : MPI_SUCCESS;
}

int PMPI_Request_free(MPI_Request *request)
{
    int (*next)(MPI_Request *);
    freed += victim != 0;
    find("PMPI_Request_free", &next);
    return next(request);
}

static void tell(const char *what, bool right)
{
    printf("rank 0 %s: %s\n", what, right ? "right" : "WRONG");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int rank, class = MPI_SUCCESS, process = getpid();
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Bcast(&process, 1, MPI_INT, VICTIM, comm);
    CRESTA_Bcast(values, LARGE, MPI_DOUBLE, 0, comm);
    while (rank == VICTIM)
        pause();
    victim = process;
    MPI_Error_class(CRESTA_Bcast(values, LARGE, MPI_DOUBLE, 0, comm), &class);
    tell("returns", class == expected);
    tell("kept", freed == 0);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); /* for the launcher to forward it */
    _exit(0);
}
