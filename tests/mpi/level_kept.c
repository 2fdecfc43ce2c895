/* SPDX-License-Identifier: BSD-3-Clause */
/* level_kept.c - the library asks the MPI how it waits where the environment does not say so; the
 * thread level of the program stays what it is. */
#include <mpi.h>
#include <stdlib.h>

#include "testing/testing.h"

int main(int argc, char **argv)
{
    int provided, now;
    unsetenv("OMPI_MCA_mpi_oversubscribe");
    unsetenv("OMPI_MCA_mpi_yield_when_idle");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Query_thread(&now);
    CHECK(now == provided, "level %d, and %d after MPI_Init_thread", now, provided);
    MPI_Finalize();
    return testing_end("level_kept");
}
