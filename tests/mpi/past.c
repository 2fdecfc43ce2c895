/* SPDX-License-Identifier: BSD-3-Clause */
/* past.c - the MPI is ended past the interposer right after the end of a call, when the progress
 * thread thread may be in the MPI for it.
 *
 *     past coll | wait | test        how the call is ended
 */
#include "testing/testing.h"

#include <cresta_sp_coll.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "coll";
    const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};
    int one = 1, sum, rank, size, done;
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int round = 0; round < 10; round++) {
        MPI_Request request;
        sum = -1, done = 0;
        CRESTA_Allreduce_begin(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        nanosleep(&nap, NULL);
        if (strcmp(way, "coll") == 0)
            CRESTA_Coll_end(1, &request);
        else if (strcmp(way, "wait") == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (strcmp(way, "test") == 0 && !done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(sum == size, "sum %d", sum);
    }
    PMPI_Finalize();
    return testing_end("past");
}
