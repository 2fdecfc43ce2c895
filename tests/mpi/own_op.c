/* SPDX-License-Identifier: BSD-3-Clause */
/* own_op.c - a program that asks for less than MPI_THREAD_MULTIPLE sees its operations run on its
 * own thread, whatever the progress thread moves.
 *
 *     own_op LEVEL        plain (for the preload library), or linked: with begins
 */
#include "testing/testing.h"

#include <mpi.h>
#include <pthread.h>
#include <time.h>

#if defined(PLAIN_MPI)
#define CALL(name) MPI_##name
#define BEGIN(name, lower) MPI_I##lower
#else
#include <cresta_sp_coll.h>
#define CALL(name) CRESTA_##name
#define BEGIN(name, lower) CRESTA_##name##_begin
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

#if defined(I_MPI_VERSION) /* its MPI_Allreduce lets any thread compute: docs/mpi-defects.md */
#define RULES "alltoall=p2p,allreduce=nonblock"
#else
#define RULES "alltoall=p2p"
#endif

enum { N = 50000, ROUNDS = 10 };

static pthread_t mine;
static int runs, strays, rank, size;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    runs++;
    strays += !pthread_equal(pthread_self(), mine);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((const int *)in)[i];
}

/* Time for the progress thread to go wrong in. */
static void compute(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

int main(int argc, char **argv)
{
    static int x[N], y[N], a[2 * N], b[2 * N];
    int level = argc > 1 ? atoi(argv[1]) : 0, provided;
    MPI_Op op;
    testing_watchdog(40);
    mine = pthread_self();
    if (level == MPI_THREAD_SINGLE)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Op_create(add, 1, &op);
#if !defined(PLAIN_MPI)
    CRESTA_Set_impl(MPI_COMM_WORLD, RULES);
#endif
    CALL(Barrier)(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        x[i] = rank + i;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request r[2];
        snprintf(testing_label, sizeof testing_label, "round %d", round);
        BEGIN(Alltoall, alltoall)(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD, &r[0]);
        if (round % 2)
            BEGIN(Allreduce, allreduce)(x, y, N, MPI_INT, op, MPI_COMM_WORLD, &r[1]);
        else
            CALL(Iallreduce)(x, y, N, MPI_INT, op, MPI_COMM_WORLD, &r[1]);
        compute();
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(y[7] == size * (size - 1) / 2 + 7 * size, "sum %d", y[7]);
        BEGIN(Alltoall, alltoall)(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD, &r[0]);
        if (rank == 1)
            compute();
        CALL(Allreduce)(x, y, N, MPI_INT, op, MPI_COMM_WORLD);
        CHECK(y[7] == size * (size - 1) / 2 + 7 * size, "sum %d", y[7]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    }
    CHECK(strays == 0, "%d of %d runs on another thread", strays, runs);
    MPI_Op_free(&op);
    MPI_Finalize();
    return testing_end("own_op");
}
