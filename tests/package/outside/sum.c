/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.c - the smallest program that uses crestacoll: adds up the ranks. */
#include <crestacoll.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CRESTA_Set_impl(MPI_COMM_WORLD, "allreduce=nonblock");
    CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum != size * (size - 1) / 2;
}
