/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_collectives.c - see mpi_bugs_collectives.h; mpi_bugs.c is the program. */
#include "mpi_bugs_collectives.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Displacements are bytes, also where there is one rank. */
int alone_alltoallw(void)
{
    int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0}, one = 1, at = sizeof(int);
    MPI_Datatype type = MPI_INT;
    MPI_Alltoallw(in, &one, &at, &type, out, &one, &at, &type, MPI_COMM_SELF);
    return out[1] != 2;
}

/* The only block lies one element behind the start. */
int alone_allgatherv(void)
{
    int in = 7, out[2] = {0, 0}, one = 1, at = 1;
    MPI_Allgatherv(&in, 1, MPI_INT, out, &one, &at, MPI_INT, MPI_COMM_SELF);
    return out[0] != 0 || out[1] != 7;
}

/* Bytes that are sent one by one and received in pairs: those of the others do not come. */
int allgather_pairs(void)
{
    enum { PAIRS = 32 };
    int rank, ranks, bad = 0;
    char in[2 * PAIRS], out[64 * 2 * PAIRS] = {0};
    MPI_Datatype one, two;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(1, MPI_BYTE, &one);
    MPI_Type_commit(&one);
    MPI_Type_contiguous(2, MPI_BYTE, &two);
    MPI_Type_commit(&two);
    memset(in, rank + 1, sizeof in);
    MPI_Allgather(in, 2 * PAIRS, one, out, PAIRS, two, MPI_COMM_WORLD);
    for (int i = 0; i < ranks * 2 * PAIRS; i++)
        bad += out[i] != i / (2 * PAIRS) + 1;
    MPI_Type_free(&one);
    MPI_Type_free(&two);
    return bad;
}

/* Each rank sends one number thrice, by a type of extent 0. */
int gather_no_extent(void)
{
    int rank, ranks, out[3 * 64] = {0}, bad = 0;
    MPI_Datatype same;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_create_resized(MPI_INT, 0, 0, &same);
    MPI_Type_commit(&same);
    MPI_Gather(&rank, 3, same, out, 3, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 3 * ranks; i++)
        bad += out[i] != i / 3;
    MPI_Type_free(&same);
    return bad;
}

static void right_one(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

enum { N = 100, TIMES = 50, AROUND = 50 };
enum call { SCATTER, ISCATTER, BLOCK, IBLOCK };

static void reduce(enum call call, const char *in, char *out, MPI_Datatype type, MPI_Op op)
{
    const int counts[2] = {N, N};
    MPI_Request request = MPI_REQUEST_NULL;
    switch (call) {
    case SCATTER:
        MPI_Reduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD);
        break;
    case BLOCK:
        MPI_Reduce_scatter_block(in, out, N, type, op, MPI_COMM_WORLD);
        break;
    case ISCATTER:
        MPI_Ireduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD, &request);
        break;
    case IBLOCK:
        MPI_Ireduce_scatter_block(in, out, N, type, op, MPI_COMM_WORLD, &request);
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Elements of 8 bytes 64 bytes apart, an operation that does not commute: memory is overwritten,
 * and the end is a crash, or it never comes, mostly. */
static int with_gap_behind(enum call call)
{
    int bad = 0;
    char *in = calloc(2 * N, 64), *out = calloc(N, 64);
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 64, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(right_one, 0, &op);
    for (int k = 0; k < TIMES; k++) {
        char *near[AROUND];
        for (int i = 0; i < AROUND; i++)
            near[i] = calloc(1, N * 8);
        reduce(call, in, out, type, op);
        for (int i = 0; i < AROUND; i++) {
            for (int j = 0; j < N * 8; j++)
                bad += near[i][j] != 0;
            free(near[i]);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(in);
    free(out);
    return bad;
}

int gap_behind(void)
{
    return with_gap_behind(SCATTER);
}

int gap_behind_i(void)
{
    return with_gap_behind(ISCATTER);
}

int gap_behind_block(void)
{
    return with_gap_behind(BLOCK);
}

int gap_behind_iblock(void)
{
    return with_gap_behind(IBLOCK);
}

static void add_shifted(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 1; i <= *n; i++)
        ((double *)b)[i] += ((double *)a)[i];
}

/* An element that begins behind its address, and an operation of the program: no result. */
int shifted_allreduce(void)
{
    double give[2] = {0, 1}, got[2] = {0, 0};
    int size;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_hindexed(1, (const int[]){1}, (const MPI_Aint[]){sizeof(double)}, MPI_DOUBLE,
                             &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_shifted, 1, &op);
    MPI_Allreduce(give, got, 1, type, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return got[1] != size;
}

/* Blocks of a type whose data begin behind its address: memory is overwritten, mostly a crash. */
int shifted_gather(void)
{
    enum { MANY = 340, BYTES = 16 };
    int ranks;
    MPI_Datatype one, apart;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *give = calloc(3 * MANY, BYTES), *got = calloc((size_t)ranks * 6 * MANY + 2, BYTES);
    MPI_Type_dup(MPI_C_DOUBLE_COMPLEX, &one);
    MPI_Type_indexed(2, (const int[]){1, 2}, (const int[]){2, 6}, MPI_C_DOUBLE_COMPLEX, &apart);
    MPI_Type_commit(&apart);
    MPI_Gather(give, 3 * MANY, one, got, MANY, apart, 0, MPI_COMM_WORLD);
    MPI_Type_free(&one);
    MPI_Type_free(&apart);
    free(give);
    free(got);
    return 0;
}

/* Everybody gives one element without data, the root expects none of another type: the same
 * signature.  It waits for ever. */
int empty_gatherv(void)
{
    int word = 0, got = 0, zeros[64] = {0};
    MPI_Datatype none;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Gatherv(&word, 1, none, &got, zeros, zeros, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&none);
    return 0;
}

/* MPI_Gather, where everybody gives none of the type of which two are expected. */
int empty_gather(void)
{
    int word = 0, got = 0;
    MPI_Datatype none;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Gather(&word, 0, none, &got, 2, none, 0, MPI_COMM_WORLD);
    MPI_Type_free(&none);
    return 0;
}

static pthread_t caller;
static int strays, over;

static void add_here(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)type;
    strays += !pthread_equal(pthread_self(), caller);
    for (int i = 0; i < *n; i++)
        ((int *)b)[i] += ((int *)a)[i];
}

static void *look(void *data)
{
    for (int flag; !__atomic_load_n(&over, __ATOMIC_ACQUIRE);)
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return data;
}

/* While one thread is in MPI_Allreduce, its operation runs on another, in any call of the MPI. */
int op_elsewhere(void)
{
    enum { INTS = 50000 };
    static int in[INTS], out[INTS];
    int rank;
    pthread_t thread;
    MPI_Op op;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add_here, 1, &op);
    caller = pthread_self();
    pthread_create(&thread, NULL, look, NULL);
    for (int i = 0; i < TIMES; i++) {
        if (rank > 0)
            usleep(10000);
        MPI_Allreduce(in, out, INTS, MPI_INT, op, MPI_COMM_WORLD);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    return strays;
}
