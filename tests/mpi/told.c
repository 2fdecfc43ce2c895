/* SPDX-License-Identifier: BSD-3-Clause */
/* told.c - a program for a tool to count: two sends, three waits for all, one level, on each rank.
 */
#include <mpi.h>
#include <stdlib.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

int main(int argc, char **argv)
{
    int rank, size, in[2], out = 7, sum, provided;
    MPI_Request requests[2];
    if (argc > 1)
        MPI_Init_thread(&argc, &argv, atoi(argv[1]), &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pcontrol(1);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum != 7 * size;
}
