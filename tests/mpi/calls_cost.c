/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_cost.c - N calls that send 8 bytes from a rank to itself: for counts of instructions.
 *
 *     calls_cost N */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double sent = 1, got;
    MPI_Init(&argc, &argv);
    for (int i = atoi(argv[1]); i > 0; i--)
        MPI_Sendrecv(&sent, 1, MPI_DOUBLE, 0, 0, &got, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
