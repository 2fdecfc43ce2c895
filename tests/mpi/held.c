/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c - while a reduction with an operation of the program keeps the progress thread out of the
 * MPI (CRESTA_ASYNC=thread, a program that did not ask for MPI_THREAD_MULTIPLE), what passes
 * through shared memory moves on: rank 0 waits in the MPI for a rank that waits for its part of an
 * alltoall. */
#include <cresta_sp_coll.h>

#include "testing/testing.h"

enum { N = 1 << 20 };

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static char from[2 * N], to[2 * N];

int main(int argc, char **argv)
{
    int rank, one = 1, sum = 0, word = 0, wrong = 0;
    MPI_Op op;
    MPI_Request requests[2];
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    MPI_Op_create(add, 1, &op);
    CRESTA_Set_impl(MPI_COMM_WORLD, "alltoall=shm");
    for (int i = 0; i < 2 * N; i++)
        from[i] = (char)(rank + i % 99);
    CRESTA_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
    CRESTA_Alltoall_begin(from, N, MPI_CHAR, to, N, MPI_CHAR, MPI_COMM_WORLD, &requests[1]);
    snprintf(testing_label, sizeof testing_label, "alltoall beside a reduction");
    if (rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CRESTA_Coll_end(1, &requests[1]);
    if (rank == 1)
        MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CRESTA_Coll_end(1, &requests[0]);
    for (int i = 0; i < 2 * N; i++)
        wrong += to[i] != (char)(i / N + (rank * N + i % N) % 99);
    CHECK(wrong == 0 && sum == 2, "%d bytes are wrong, the sum is %d", wrong, sum);
    MPI_Op_free(&op);
    MPI_Finalize();
    return testing_end("held");
}
