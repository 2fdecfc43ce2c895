/* SPDX-License-Identifier: BSD-3-Clause */
/* late_first.c - preloaded: rank 0 goes on 20 ms after the others have learned their rank, so that
 * a rank that stops the job does so before rank 0 has spoken. */
#include <mpi.h>
#include <time.h>

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    const int error = PMPI_Comm_rank(comm, rank);
    if (error == MPI_SUCCESS && *rank == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return error;
}
