/* SPDX-License-Identifier: BSD-3-Clause */
/* own_init.c - for tests/python/test_library_tool.py: a program that counts calls by the profiling
 * interface, so that its executable defines MPI_Init and MPI_Finalize.  Rank 0 makes no call on a
 * part of the world ("parts"), rank 1 does; then all call on the world ("world"). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>
#if defined(LINKED)
#include <crestacoll.h>
#define CALL(x) CRESTA_##x
#else
#define CALL(x) MPI_##x
#endif

static int begun;

int MPI_Init(int *argc, char ***argv)
{
    begun++;
    return PMPI_Init(argc, argv);
}

int MPI_Finalize(void)
{
    return begun == 1 ? PMPI_Finalize() : 1;
}

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part);
    for (int way = 1; way < argc; way++)
        for (int i = 1; i <= 100; i++) {
            const bool world = strcmp(argv[way], "world") == 0;
            int sum = 0, members;
            MPI_Comm comm = world ? MPI_COMM_WORLD : part;
            MPI_Comm_size(comm, &members);
            if (world || rank > 0)
                CALL(Allreduce)(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
            bad += (world || rank > 0) && sum != i * members;
        }
    MPI_Comm_free(&part);
    MPI_Finalize();
    if (rank == 0 && bad == 0)
        puts("right");
    return bad != 0;
}
