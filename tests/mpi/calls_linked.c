/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_linked.c - collectives by crestacoll's own names, begun and waited for in its own way and
 * in the MPI's: what a profile says of a program that is linked to it. */
#include "cresta_sp_coll.h"
#include "crestacoll.h"

enum { TIMES = 20 };

int main(int argc, char **argv)
{
    double mine = 1, sum;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < TIMES; i++) {
        CRESTA_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CRESTA_Allreduce_begin(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        CRESTA_Coll_end(1, &request);
        CRESTA_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
