/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - a linked C program: the prefix MPI_ of a collective became CRESTA_, nothing else
 * changed. */
#include <crestacoll.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* The program's own choice; CRESTA_IMPL in the environment overrides it. */
    CRESTA_Set_impl(MPI_COMM_WORLD, "allreduce[0-4K]=nonblock,*=mpi");
    CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    if (rank == 0)
        printf("sum of ranks: %d\n", sum);
    MPI_Finalize();
    return sum == size * (size - 1) / 2 ? 0 : 1;
}
