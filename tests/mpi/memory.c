/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - CRESTA_Alloc_mem: collectives on buffers in shared memory, of other and of the same
 * ranks, against the MPI's own; how memory comes and goes.
 *
 *     memory IMPL
 */
#include "call.h"
#include "testing/testing.h"

enum { N = 40000 }; /* ints of a block */

static int rank, size;

static int value(int call, int from, int to, int i)
{
    return call * 1000003 + from * 10007 + to * 101 + i;
}

static int *allocate(MPI_Comm comm, size_t ints)
{
    int *memory = NULL;
    CHECK(CRESTA_Alloc_mem((MPI_Aint)(ints * sizeof(int)), comm, &memory) == MPI_SUCCESS, "alloc");
    CHECK(memory != NULL && memory[0] == 0 && memory[ints - 1] == 0, "not zero");
    return memory;
}

static void give_back(int *memory)
{
    CHECK(CRESTA_Free_mem(memory) == MPI_SUCCESS, "free");
}

/* Written again at once after the call: whoever still reads the old data has not been waited for.
 */
static void spoil(int *send, int n)
{
    for (int i = 0; i < n; i++)
        send[i] = -1;
}

static void alltoall(MPI_Comm comm, int *send, int *recv, int call)
{
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int to = 0; to < p; to++)
        for (int i = 0; i < N; i++)
            send[to * N + i] = value(call, me, to, i);
    CRESTA_Alltoall(send, N, MPI_INT, recv, N, MPI_INT, comm);
    spoil(send, p * N);
    for (int from = 0; from < p; from++)
        for (int i = 0; i < N; i += 97)
            CHECK(recv[from * N + i] == value(call, from, me, i), "alltoall %d: block %d, %d", call,
                  from, i);
}

static void allreduce(MPI_Comm comm, int *send, int *recv, int call, int in_place)
{
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    int *from = in_place ? recv : send;
    for (int i = 0; i < N; i++)
        from[i] = value(call, me, 0, i);
    CRESTA_Allreduce(in_place ? MPI_IN_PLACE : send, recv, N, MPI_INT, MPI_SUM, comm);
    if (!in_place)
        spoil(send, N);
    for (int i = 0; i < N; i += 97) {
        int sum = 0;
        for (int r = 0; r < p; r++)
            sum += value(call, r, 0, i);
        CHECK(recv[i] == sum, "allreduce %d: element %d", call, i);
    }
}

static void bcast(MPI_Comm comm, int *buffer, int call)
{
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < N; i++)
        buffer[i] = me == call % p ? value(call, 0, 0, i) : -1;
    CRESTA_Bcast(buffer, N, MPI_INT, call % p, comm);
    for (int i = 0; i < N; i += 97)
        CHECK(buffer[i] == value(call, 0, 0, i), "bcast %d: element %d", call, i);
    spoil(buffer, N);
}

/* Buffers in shared memory, of all ranks or of every second. */
static void all_calls(MPI_Comm comm, int *shared, int *own, int mixed)
{
    int *send = mixed && rank % 2 ? own : shared;
    for (int call = 0; call < 4; call++) {
        alltoall(comm, send, shared + size * N, call);
        allreduce(comm, send, shared + size * N, call, 0);
        allreduce(comm, send, shared + size * N, call, 1);
        bcast(comm, send, call);
    }
}

/* On a communicator that does not know the memory, data are copied. */
static void other_communicator(int *shared, int *own)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    all_calls(half, shared, own, 0);
    MPI_Comm_free(&half);
}

/* Ranks remember calls, each its own: those with derived types do not.  Nor may what one remembers
 * of `copy=slots` hold for another way. */
static void copies_change(const char *spec, int *send, int *recv)
{
    MPI_Comm comm;
    MPI_Datatype block;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(N, MPI_INT, &block);
    MPI_Type_commit(&block);
    for (int call = 0; call < 4; call++) {
        CHECK(CRESTA_Set_impl(comm, call % 2 ? spec : "*=shm") == MPI_SUCCESS, "rule");
        for (int i = 0; i < N * size; i++)
            send[i] = value(call, rank, i / N, i % N);
        CRESTA_Alltoall(send, rank % 2 ? 1 : N, rank % 2 ? block : MPI_INT, recv, rank % 2 ? 1 : N,
                        rank % 2 ? block : MPI_INT, comm);
        spoil(send, size * N);
        for (int i = 0; i < N * size; i += 97)
            CHECK(recv[i] == value(call, i / N, rank, i % N), "call %d: element %d", call, i);
    }
    MPI_Type_free(&block);
    MPI_Comm_free(&comm);
}

static void come_and_go(void)
{
    MPI_Comm comm;
    int class, nothing;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 100; i++) { /* more than a communicator may have at once */
        int *a = allocate(comm, N), *b = allocate(comm, (size_t)(1 + rank)), *c = allocate(comm, N);
        give_back(i % 2 ? a : c);
        int *d = allocate(comm, 2 * N);
        bcast(comm, d, i);
        give_back(i % 2 ? c : a);
        give_back(d);
        give_back(b);
    }
    int *last = allocate(comm, N);
    MPI_Comm_free(&comm);
    last[N - 1] = 5;
    give_back(last);
    MPI_Error_class(CRESTA_Free_mem(&nothing), &class);
    CHECK(class == MPI_ERR_BASE, "class %d for an address that is none", class);
    MPI_Error_class(CRESTA_Alloc_mem(-1, MPI_COMM_WORLD, &last), &class);
    CHECK(class == MPI_ERR_ARG, "class %d for -1 bytes", class);
#if !defined(__SANITIZE_ADDRESS__) /* whose malloc ends the program */
    MPI_Error_class(CRESTA_Alloc_mem((MPI_Aint)1 << 50, MPI_COMM_WORLD, &last), &class);
    CHECK(class == MPI_ERR_NO_MEM, "class %d for more memory than there is", class);
#endif
}

int main(int argc, char **argv)
{
    char spec[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    snprintf(spec, sizeof spec, "*=%s", argc > 1 ? argv[1] : "shm");
    CHECK(CRESTA_Set_impl(MPI_COMM_WORLD, spec) == MPI_SUCCESS, "%s", spec);
    const size_t ints = 2 * (size_t)size * N;
    int *shared = allocate(MPI_COMM_WORLD, ints), *own = malloc(ints * sizeof *own);
    all_calls(MPI_COMM_WORLD, shared, own, 0);
    all_calls(MPI_COMM_WORLD, shared, own, 1);
    other_communicator(shared, own);
    if (argc > 1 && strstr(argv[1], "copy=") != NULL)
        copies_change(spec, own, own + size * N);
    give_back(shared);
    free(own);
    come_and_go();
    const int failed = testing_end("memory");
    MPI_Finalize();
    return failed;
}
