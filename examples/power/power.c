/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest eigenvalue of an N by N matrix by power iteration: power N STEPS */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int rows = n / ranks; /* of this rank; N is a multiple of the number of ranks */
    double *a = malloc(sizeof(double) * rows * n);
    double *x = malloc(sizeof(double) * n), *y = malloc(sizeof(double) * rows), eigenvalue = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 1.0 / (1 + abs(rank * rows + i - j));
    for (int j = 0; j < n; j++)
        x[j] = 1 / sqrt(n);

    for (int step = 0; step < steps; step++) {
        double mine = 0, sum;
        for (int i = 0; i < rows; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++)
                y[i] += a[i * n + j] * x[j];
            mine += y[i] * y[i];
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        eigenvalue = sqrt(sum);
        for (int i = 0; i < rows; i++)
            y[i] /= eigenvalue;
        MPI_Allgather(y, rows, MPI_DOUBLE, x, rows, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%.12f\n", eigenvalue);
    MPI_Finalize();
    return 0;
}
