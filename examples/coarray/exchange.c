/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - coarrays under a C program: its collectives run on Fortran coarrays, of which it
 * knows nothing.  Rows of a grid of ranks, as a Fourier transform has them, take part of the
 * coarray that all ranks share.
 *
 * Where there is no OpenCoarrays, it runs all the same, with a warning (CRESTA_FALLBACK). */
#include <crestacoll.h>
#include <stdio.h>

enum { N = 1000, RANKS = 64 };

/* Every rank of a row gives each other N numbers that say who gives what to whom. */
static int exchange(MPI_Comm row)
{
    static int give[RANKS * N], got[RANKS * N];
    int rank, ranks, wrong = 0;
    MPI_Comm_rank(row, &rank);
    MPI_Comm_size(row, &ranks);
    for (int i = 0; i < ranks * N; i++)
        give[i] = rank * 1000000 + i;
    CRESTA_Alltoall(give, N, MPI_INT, got, N, MPI_INT, row);
    for (int from = 0; from < ranks; from++)
        for (int i = 0; i < N; i++)
            wrong += got[from * N + i] != from * 1000000 + rank * N + i;
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Comm row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* Blocks of 512 bytes in random order spread the traffic of many ranks. */
    CRESTA_Set_impl(MPI_COMM_WORLD, "alltoall=caf:chunked?chunk=512&order=random,allreduce=caf");
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    CRESTA_Set_impl(row, "alltoall=caf:chunked?chunk=512&order=random");

    int wrong = exchange(MPI_COMM_WORLD) + exchange(row), all = 0;
    CRESTA_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("exchanged on all ranks and on rows of two, %d numbers are wrong\n", all);
    MPI_Comm_free(&row);
    MPI_Finalize();
    return all != 0;
}
