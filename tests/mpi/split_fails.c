/* SPDX-License-Identifier: BSD-3-Clause */
/* split_fails.c - an operation of a begun schedule fails (CRESTA_DEBUG=fail=K, on all ranks): the
 * begin says so or the end, once on each communicator, and what comes later is right.
 */
#include "call.h"
#include "testing/testing.h"

/* How requests end. */
enum way { COLL_END, WAIT, PMPI_WAIT, WAYS };

static int end(enum way way, MPI_Request *request)
{
    if (way == WAIT)
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    return way == PMPI_WAIT ? PMPI_Wait(request, MPI_STATUS_IGNORE) : CRESTA_Coll_end(1, request);
}

/* On a communicator of its own, which counts its own operations. */
static void try(enum way way, int rank, int size)
{
    int failed = 0;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CRESTA_Set_impl(comm, "*=p2p");
    for (int i = 0; i < 20; i++) {
        int mine = rank + i, sum = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        int rc = CRESTA_Allreduce_begin(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        if (rc == MPI_SUCCESS)
            rc = end(way, &request);
        CHECK(request == MPI_REQUEST_NULL, "way %d: request left", way);
        failed += rc != MPI_SUCCESS;
        CHECK(rc != MPI_SUCCESS || sum == size * (size - 1) / 2 + size * i, "way %d: sum %d", way,
              sum);
    }
    CHECK(failed == 1, "way %d: %d calls failed, not 1", way, failed);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank, size;
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (enum way way = 0; way < WAYS; way++)
        try(way, rank, size);
    MPI_Finalize();
    return testing_end("split_fails");
}
