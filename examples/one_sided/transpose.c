/* SPDX-License-Identifier: BSD-3-Clause */
/* transpose.c - a matrix over all ranks by rows, transposed by one-sided operations: the alltoall
 * puts its blocks into a window that is made once.
 *
 * CRESTA_IMPL='alltoall=os?via=get' has blocks fetched instead of put, 'alltoall=os?window=dynamic'
 * makes a window for each call, 'alltoall=mpi' is the MPI's own. */
#include <crestacoll.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64 }; /* of each rank */

/* packed: for each rank, the part of our rows that are its columns, transposed. */
static void transpose(double *packed, const double *mine, int ranks)
{
    double *arrived = malloc(sizeof *arrived * ROWS * ROWS * (size_t)ranks);
    if (arrived == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                packed[(r * ROWS + j) * ROWS + i] = mine[i * ROWS * ranks + r * ROWS + j];
    CRESTA_Alltoall(packed, ROWS * ROWS, MPI_DOUBLE, arrived, ROWS * ROWS, MPI_DOUBLE,
                    MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                packed[i * ROWS * ranks + r * ROWS + j] = arrived[(r * ROWS + i) * ROWS + j];
    free(arrived);
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CRESTA_Set_impl(MPI_COMM_WORLD, "alltoall=os,*=mpi");
    CRESTA_Win_init(MPI_COMM_WORLD); /* else the first call would make the window */

    const int n = ROWS * ranks;
    double *matrix = malloc(sizeof *matrix * ROWS * (size_t)n);
    double *transposed = malloc(sizeof *transposed * ROWS * (size_t)n);
    if (matrix == NULL || transposed == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < n; j++)
            matrix[i * n + j] = (double)(rank * ROWS + i) * n + j;
    transpose(transposed, matrix, ranks);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < n; j++)
            wrong += transposed[i * n + j] != (double)j * n + rank * ROWS + i;

    CRESTA_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("transposed %d x %d, %d elements are wrong\n", n, n, all);
    free(matrix);
    free(transposed);
    CRESTA_Win_finalize();
    MPI_Finalize();
    return all != 0;
}
