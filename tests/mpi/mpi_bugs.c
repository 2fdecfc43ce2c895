/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs.c - shows, in plain MPI, the faults that known.c leaves out; not run by ctest. Exit code
 * 1 or a crash: it has it.
 *
 *     mpiexec -n 2 mpi_bugs gather_init | scatter_init | allgather_init | ialltoallw_in_place |
 *                           reduce_scatter_in_place | reduce_in_place | comm_free |
 *                           unsigned_max | unsigned_short_sum | ialltoallv_empty
 *     mpiexec -n 3 mpi_bugs win_allocate
 *     mpiexec -n 6 mpi_bugs ialltoallv_in_place
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks;

#if MPI_VERSION >= 4
/* Starts a persistent call thrice with new data; block r of the result must come from where `from`
 * says. */
static int starts(MPI_Request request, int *send, int *recv, int blocks, const char *which)
{
    int bad = 0;
    for (int k = 1; k <= 3; k++) {
        for (int i = 0; i < ranks; i++)
            send[i] = 100 * k + 10 * me + i, recv[i] = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < blocks; i++)
            bad += recv[i] !=
                   (strcmp(which, "scatter_init") == 0 ? 100 * k + me : 100 * k + 10 * i);
    }
    MPI_Request_free(&request);
    return bad;
}

static int persistent(const char *which)
{
    int send[64] = {0}, recv[64] = {0};
    MPI_Request request;
    if (strcmp(which, "gather_init") == 0) {
        MPI_Gather_init(send, 1, MPI_INT, recv, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &request);
        return starts(request, send, recv, me == 0 ? ranks : 0, which);
    }
    if (strcmp(which, "scatter_init") == 0) {
        MPI_Scatter_init(send, 1, MPI_INT, recv, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
        return starts(request, send, recv, 1, which);
    }
    MPI_Allgather_init(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    return starts(request, send, recv, ranks, which);
}
#else
static int persistent(const char *which)
{
    (void)which;
    return 0;
}
#endif

/* Two ranks: 2 x MPI_INT for oneself, 2 x contiguous(2) for the other; in place. */
static int ialltoallw_in_place(void)
{
    int buffer[32], bad = 0;
    MPI_Request request;
    MPI_Datatype pair, types[2];
    const int counts[2] = {2, 2}, displs[2] = {0, 64};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    types[me % 2] = MPI_INT;
    types[1 - me % 2] = pair;
    for (int i = 0; i < 32; i++)
        buffer[i] = 1000 * me + i;
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buffer, counts, displs, types, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) /* the other's block for me */
        bad += buffer[(me == 0 ? 16 : 0) + i] != 1000 * (1 - me) + (me == 0 ? 0 : 16) + i;
    MPI_Type_free(&pair);
    return bad;
}

/* Six ranks or more: ranks a and b exchange (a + b + 1) mod 3 times 1000 integers; in place. */
static int ialltoallv_in_place(void)
{
    enum { N = 1000 };
    int counts[64], displs[65] = {0}, bad = 0;
    MPI_Request request;
    for (int r = 0; r < ranks; r++) {
        counts[r] = N * ((me + r + 1) % 3);
        displs[r + 1] = displs[r] + counts[r];
    }
    int *x = malloc((size_t)displs[ranks] * sizeof *x);
    for (int r = 0; r < ranks; r++)
        for (int i = displs[r]; i < displs[r + 1]; i++)
            x[i] = 100 * me + r;
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, x, counts, displs, MPI_INT,
                   MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; r++)
        for (int i = displs[r]; i < displs[r + 1]; i++)
            bad += x[i] != 100 * r + me;
    free(x);
    return bad;
}

static int reduce_scatter_in_place(void)
{
    enum { N = 38000 };
    const int counts[2] = {N, 2 * N};
    double *x = malloc(3 * N * sizeof *x);
    int bad = 0;
    for (int i = 0; i < 3 * N; i++)
        x[i] = me + i;
    MPI_Reduce_scatter(MPI_IN_PLACE, x, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < counts[me]; i++)
        bad += x[i] != 2 * (i + me * N) + 1;
    free(x);
    return bad;
}

static int reduce_in_place(void)
{
    enum { N = 3000 };
    int in[N], out[N], bad = 0;
    for (int i = 0; i < N; i++)
        in[i] = out[i] = 1;
    MPI_Reduce(me == 1 ? MPI_IN_PLACE : in, out, N, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    for (int i = 0; i < N && me == 1; i++)
        bad += out[i] != 2;
    return bad;
}

static int comm_free(void)
{
    int one = 1, sum = 0;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return sum != ranks;
}

/* To everybody one element of no size, which the other side calls none: waits for ever. */
static int ialltoallv_empty(void)
{
    int one[64], zero[64] = {0}, displs[64] = {0}, in = 0, out = 0;
    MPI_Datatype none;
    MPI_Request request;
    for (int i = 0; i < 64; i++)
        one[i] = 1;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Alltoallv(&in, zero, displs, MPI_INT, &out, one, displs, none, MPI_COMM_WORLD);
    MPI_Ialltoallv(&in, zero, displs, MPI_INT, &out, one, displs, none, MPI_COMM_WORLD, &request);
    alarm(10);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    alarm(0);
    return 0;
}

/* Comparing as signed numbers would answer 1. */
static int unsigned_max(void)
{
    unsigned a[64], b[64];
    unsigned long c[64], d[64];
    int bad = 0;
    for (int i = 0; i < 64; i++) {
        a[i] = 1, b[i] = 0x80000000u;
        c[i] = 1, d[i] = 1ul << 63;
    }
    MPI_Reduce_local(a, b, 64, MPI_UNSIGNED, MPI_MAX);
    MPI_Reduce_local(c, d, 64, MPI_UNSIGNED_LONG, MPI_MAX);
    for (int i = 0; i < 64; i++)
        bad += b[i] != 0x80000000u || d[i] != 1ul << 63;
    return bad;
}

/* 40000 + 40000 is 14464 in 16 bits; it was seen to stop at 65535. */
static int unsigned_short_sum(void)
{
    unsigned short a[64], b[64];
    int bad = 0;
    for (int i = 0; i < 64; i++)
        a[i] = b[i] = 40000;
    MPI_Reduce_local(a, b, 64, MPI_UNSIGNED_SHORT, MPI_SUM);
    for (int i = 0; i < 64; i++)
        bad += b[i] != 14464;
    return bad;
}

/* A window of 24 bytes for each rank of a node: what is got from a peer is not what he has there.
 * Multiples of 16 are right. */
static int win_allocate(void)
{
    char *mine, got[24];
    int bad = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof got, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    memset(mine, me + 1, sizeof got);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int peer = 0; peer < ranks; peer++) {
        MPI_Get(got, sizeof got, MPI_BYTE, peer, 0, sizeof got, MPI_BYTE, win);
        MPI_Win_flush(peer, win);
        for (size_t i = 0; i < sizeof got; i++)
            bad += got[i] != peer + 1;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return bad;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int least = strcmp(which, "ialltoallv_in_place") == 0 ? 6
                      : strcmp(which, "win_allocate") == 0      ? 3
                                                                : 2;
    if (ranks < least || ranks > (least == 2 ? 2 : 64)) {
        if (me == 0)
            fprintf(stderr, "mpi_bugs: give me %d ranks\n", least);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int bad = strcmp(which, "ialltoallw_in_place") == 0       ? ialltoallw_in_place()
                    : strcmp(which, "ialltoallv_in_place") == 0     ? ialltoallv_in_place()
                    : strcmp(which, "reduce_scatter_in_place") == 0 ? reduce_scatter_in_place()
                    : strcmp(which, "reduce_in_place") == 0         ? reduce_in_place()
                    : strcmp(which, "comm_free") == 0               ? comm_free()
                    : strcmp(which, "ialltoallv_empty") == 0        ? ialltoallv_empty()
                    : strcmp(which, "win_allocate") == 0            ? win_allocate()
                    : strcmp(which, "unsigned_max") == 0            ? unsigned_max()
                    : strcmp(which, "unsigned_short_sum") == 0      ? unsigned_short_sum()
                                                                    : persistent(which);
    printf("%s, rank %d: %s\n", which, me, bad ? "WRONG" : "right");
    MPI_Finalize();
    return bad != 0;
}
