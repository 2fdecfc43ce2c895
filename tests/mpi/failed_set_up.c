/* SPDX-License-Identifier: BSD-3-Clause */
/* failed_set_up.c - the last rank fails in the first call on a communicator, when the ranks have
 * agreed that all have the library's: rank 1 does not learn what came out, the others do, and wait
 * there for it.  All that are left must come to CRESTA_Comm_repair.  For
 * tests/python/test_library_failures.py, which reads what each rank prints.
 *
 * Functions of the MPI are replaced, also for the library, to fail at that place. */
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

enum { MISSES = 1 };

static int rank, size;
static enum { BEFORE, CREATES, CREATED, AGREES, AFTER } place;
static MPI_Request agreement;

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    int (*next)(MPI_Comm, MPI_Group, MPI_Comm *);
    find("PMPI_Comm_create", &next);
    place += place == CREATES;
    return next(comm, group, made);
}

int PMPI_Iallreduce(const void *data, void *result, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    find("PMPI_Iallreduce", &next);
    const int rc = next(data, result, count, type, op, comm, request);
    if (place == CREATED) {
        place = AGREES;
        agreement = *request;
    }
    return rc;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *);
    find("PMPI_Test", &next);
    const bool is = place == AGREES && *request == agreement;
    const int rc = next(request, flag, status);
    if (!is || !*flag)
        return rc;
    place = AFTER;
    if (rank == size - 1) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* what it sent has gone */
        kill(getpid(), SIGKILL);
    }
    return rank == MISSES ? expected : rc;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left = MPI_COMM_NULL;
    int one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    place = CREATES;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS)
        rc = CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    const bool repaired = CRESTA_Comm_repair(comm, &left) == MPI_SUCCESS;
    const bool adds = repaired &&
                      CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS;
    printf("rank %d repaired: %s\n", rank,
           place == AFTER && adds && sum == size - 1 ? "right" : "WRONG");
    fflush(stdout);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); /* for the launcher to forward it */
    _exit(0);
}
