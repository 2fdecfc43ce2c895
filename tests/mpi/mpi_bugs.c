/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs.c - shows, in plain MPI, the faults that known.c leaves out; not run by ctest. Exit code
 * 1 or a crash: it has it.
 *
 *     mpiexec -n 2 mpi_bugs gather_init | scatter_init | allgather_init | ialltoallw_in_place |
 *                           reduce_scatter_in_place | reduce_in_place | comm_free |
 *                           unsigned_max | unsigned_short_sum | inactive | testall |
 *                           null_grequest | after_none | empty_alltoall |
 *                           empty_ialltoallv | grid_ialltoallw | gap_behind |
 *                           gap_behind_i | gap_behind_block | gap_behind_iblock |
 *                           alone_alltoallw | alone_allgatherv | win_freed_comm |
 *                           win_threads | handler_leaves | handler_calls |
 *                           waitall_failed | waitall_over | some_persistent |
 *                           look_ends | look_handled | none_active |
 *                           shifted_allreduce | empty_gather | empty_gatherv |
 *                           shifted_gather | op_elsewhere | accumulate_pairs |
 *                           session_first | neighbors_grid |
 *                           neighbors_repeated | neighbors_sinks | neighbors_one_way |
 *                           neighbors_by_chance
 *     mpiexec -n 1 mpi_bugs three_spawns
 *     mpiexec -n 3 mpi_bugs win_allocate | allgather_pairs | allgatherv_types |
 *                           allgatherv_extents
 *     mpiexec -n 4 mpi_bugs gather_no_extent
 *     mpiexec -n 6 mpi_bugs ialltoallv_in_place
 *     mpirun --with-ft ulfm -n 4 mpi_bugs dies_in_create | dies_in_allreduce |
 *                                          dies_in_sends
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_bugs.h"
#include "mpi_bugs_collectives.h"
#include "mpi_bugs_errors.h"
#include "mpi_bugs_failures.h"
#include "mpi_bugs_neighbors.h"
#include "mpi_bugs_spawn.h"
#include "mpi_bugs_windows.h"

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

/* Two elements of a type without data on rank 0, none on rank 1: the same signature.  Waits for
 * ever. */
static int empty_alltoall(void)
{
    int word = 0, got = 0;
    MPI_Datatype none;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Alltoall(&word, me ? 0 : 2, me ? MPI_INT : none, &got, me ? 0 : 2, me ? MPI_INT : none,
                 MPI_COMM_WORLD);
    MPI_Type_free(&none);
    return 0;
}

/* MPI_Ialltoallv, one element that is expected; MPI_Alltoallv is right. */
static int empty_ialltoallv(void)
{
    int word = 0, got = 0, ones[2] = {1, 1}, zeros[2] = {0, 0};
    MPI_Datatype none;
    MPI_Request request;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Ialltoallv(&word, zeros, zeros, MPI_INT, &got, ones, zeros, none, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&none);
    return 0;
}

/* Two ranks as a grid of two dimensions have four neighbours: four types are read, or a crash. */
static int grid_ialltoallw(void)
{
    int in[2] = {1, 2}, out[2] = {0, 0}, counts[2] = {1, 1}, at[2] = {0, sizeof(int)};
    int dims[2] = {2, 1}, periods[2] = {0, 0};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT};
    MPI_Comm grid;
    MPI_Request request;
    memset(&types[2], 0x5a, 2 * sizeof types[0]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Ialltoallw(in, counts, at, types, out, counts, at, types, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&grid);
    return out[1] != me + 1;
}

/* Rank 0 describes its ints as one element: it takes another algorithm than the others, for the
 * blocking call decides by the size of the sender's type. */
static int allgatherv_types(void)
{
    enum { N = 10 };
    static int in[N], out[64 * N], counts[64], at[64];
    MPI_Datatype whole;
    MPI_Type_contiguous(N, MPI_INT, &whole);
    MPI_Type_commit(&whole);
    for (int i = 0; i < ranks; i++)
        counts[i] = N, at[i] = i * N;
    MPI_Allgatherv(in, me ? N : 1, me ? MPI_INT : whole, out, counts, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Type_free(&whole);
    return 0;
}

/* Rank 0 has gaps: it cuts blocks into other pieces than the others, by extents. */
static int allgatherv_extents(void)
{
    enum { N = 20000 };
    int counts[64], at[64], *in = calloc(N, sizeof(int));
    char *out = calloc((size_t)ranks * N, 16);
    MPI_Datatype wide;
    MPI_Type_create_resized(MPI_INT, 0, 16, &wide);
    MPI_Type_commit(&wide);
    for (int i = 0; i < ranks; i++)
        counts[i] = N - 5000 * i, at[i] = i * N;
    MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, at, me ? MPI_INT : wide, MPI_COMM_WORLD);
    MPI_Type_free(&wide);
    free(in);
    free(out);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
    int least, most; /* ranks */
} bugs[] = {{"ialltoallw_in_place", ialltoallw_in_place, 2, 2},
            {"ialltoallv_in_place", ialltoallv_in_place, 6, 64},
            {"reduce_scatter_in_place", reduce_scatter_in_place, 2, 2},
            {"reduce_in_place", reduce_in_place, 2, 2},
            {"comm_free", comm_free, 2, 2},
            {"win_allocate", win_allocate, 3, 64},
            {"unsigned_max", unsigned_max, 2, 2},
            {"unsigned_short_sum", unsigned_short_sum, 2, 2},
            {"inactive", inactive, 2, 2},
            {"testall", testall, 2, 2},
            {"null_grequest", null_grequest, 2, 2},
            {"after_none", after_none, 2, 2},
            {"empty_alltoall", empty_alltoall, 2, 2},
            {"empty_ialltoallv", empty_ialltoallv, 2, 2},
            {"alone_alltoallw", alone_alltoallw, 2, 2},
            {"alone_allgatherv", alone_allgatherv, 1, 64},
            {"allgather_pairs", allgather_pairs, 3, 64},
            {"gather_no_extent", gather_no_extent, 4, 64},
            {"grid_ialltoallw", grid_ialltoallw, 2, 2},
            {"gap_behind", gap_behind, 2, 2},
            {"gap_behind_i", gap_behind_i, 2, 2},
            {"gap_behind_block", gap_behind_block, 2, 2},
            {"gap_behind_iblock", gap_behind_iblock, 2, 2},
            {"shifted_allreduce", shifted_allreduce, 2, 64},
            {"handler_leaves", handler_leaves, 1, 64},
            {"handler_calls", handler_calls, 1, 64},
            {"waitall_failed", waitall_failed, 2, 2},
            {"waitall_over", waitall_over, 2, 2},
            {"some_persistent", some_persistent, 2, 2},
            {"look_ends", look_ends, 2, 2},
            {"look_handled", look_handled, 2, 2},
            {"none_active", none_active, 2, 2},
            {"three_spawns", three_spawns, 1, 2},
            {"session_first", session_first, 2, 64},
            {"win_freed_comm", win_freed_comm, 2, 64},
            {"win_threads", win_threads, 2, 64},
            {"accumulate_pairs", accumulate_pairs, 1, 64},
            {"shifted_gather", shifted_gather, 2, 64},
            {"empty_gather", empty_gather, 2, 64},
            {"empty_gatherv", empty_gatherv, 2, 64},
            {"op_elsewhere", op_elsewhere, 2, 64},
            {"neighbors_grid", neighbors_grid, 1, 64},
            {"neighbors_repeated", neighbors_repeated, 1, 64},
            {"neighbors_sinks", neighbors_sinks, 2, 64},
            {"neighbors_one_way", neighbors_one_way, 2, 64},
            {"neighbors_by_chance", neighbors_by_chance, 1, 64},
            {"dies_in_create", dies_in_create, 2, 64},
            {"dies_in_allreduce", dies_in_allreduce, 2, 64},
            {"dies_in_sends", dies_in_sends, 2, 64},
            {"allgatherv_types", allgatherv_types, 3, 64},
            {"allgatherv_extents", allgatherv_extents, 3, 64}};

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    const int count = (int)(sizeof bugs / sizeof bugs[0]);
    int at = 0, bad, level;
    if (strcmp(which, "session_first") == 0)
        session_first_begin();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (at < count && strcmp(bugs[at].name, which) != 0)
        at++;
    const int least = at < count ? bugs[at].least : 2, most = at < count ? bugs[at].most : 2;
    if (ranks < least || ranks > most) {
        if (me == 0)
            fprintf(stderr, "mpi_bugs: give me %d ranks\n", least);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bad = at < count ? bugs[at].run() : persistent(which);
    printf("%s, rank %d: %s\n", which, me, bad ? "WRONG" : "right");
    MPI_Finalize();
    return bad != 0;
}
