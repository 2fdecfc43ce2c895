/* SPDX-License-Identifier: BSD-3-Clause */
/* your_program.c - what a reader of the README may have: time steps with an allreduce and an
 * alltoall, a file, and a sum that is printed.  With YOUR_PROGRAM_WAITS=FILE rank 1 comes to the
 * first collective when that file is there.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 400, BLOCK = 512, MOST = 64 };

static void wait_for_file(const char *name)
{
    while (name != NULL && access(name, F_OK) != 0)
        usleep(10000);
}

static void write_all(const double *data, int rank)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "your_data", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * BLOCK * 8, data, BLOCK, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    static double send[BLOCK * MOST], receive[BLOCK * MOST];
    int rank, size;
    double sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 1)
        wait_for_file(getenv("YOUR_PROGRAM_WAITS"));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BLOCK * size; i++)
            send[i] = rank + step % 7 + i;
        MPI_Alltoall(send, BLOCK, MPI_DOUBLE, receive, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Allreduce(&receive[step % BLOCK], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    write_all(receive, rank);
    if (rank == 0)
        printf("sum %.17g\n", sum);
    MPI_Finalize();
    return 0;
}
