/* SPDX-License-Identifier: BSD-3-Clause */
/* split_fails.c - an operation of a begun schedule fails (CRESTA_DEBUG=fail=K, on all ranks): the
 * begin says so or the end, once, and what comes later is right.
 *
 *     split_fails WAY      how requests end: 0 CRESTA_Coll_end, 1 MPI_Wait, 2 PMPI_Wait
 */
#include "call.h"
#include "testing/testing.h"

static int end(int way, MPI_Request *request)
{
    if (way == 1)
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    return way == 2 ? PMPI_Wait(request, MPI_STATUS_IGNORE) : CRESTA_Coll_end(1, request);
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CRESTA_Set_impl(MPI_COMM_WORLD, "*=p2p");
    for (int i = 0; i < 20; i++) {
        int mine = rank + i, sum = -1;
        MPI_Request request = MPI_REQUEST_NULL;
        int rc = CRESTA_Allreduce_begin(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (rc == MPI_SUCCESS)
            rc = end(argc > 1 ? atoi(argv[1]) : 0, &request);
        CHECK(request == MPI_REQUEST_NULL, "request left");
        failed += rc != MPI_SUCCESS;
        CHECK(rc != MPI_SUCCESS || sum == size * (size - 1) / 2 + size * i, "sum %d", sum);
    }
    CHECK(failed == 1, "%d calls failed, not 1", failed);
    MPI_Finalize();
    return testing_end("split_fails");
}
