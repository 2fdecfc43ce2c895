/* SPDX-License-Identifier: BSD-3-Clause */
/* special.c - MPI_BOTTOM with absolute addresses, an intercommunicator, several operations in
 * operation at once.
 *
 *     special IMPL,...
 */
#include "call.h"
#include "testing/testing.h"

static const char *impl;

static void choose(MPI_Comm comm)
{
    char spec[128];
    snprintf(spec, sizeof spec, "*=%s", impl);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "%s", spec);
}

static void run(enum mode mode, const struct call *call)
{
    MPI_Request request;
    CHECK(call_make(mode, call, &request) == MPI_SUCCESS, "%s %s", coll_names[call->coll],
          mode_names[mode]);
    if (mode_persistent(mode))
        MPI_Start(&request);
    if (request != MPI_REQUEST_NULL)
        wait_politely(&request);
    if (mode_persistent(mode))
        MPI_Request_free(&request);
}

static MPI_Datatype absolute(const int *a, const int *b)
{
    const int one[2] = {1, 1};
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI_Get_address(a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Type_create_hindexed(2, one, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Two variables far apart are one element at MPI_BOTTOM. */
static void bottom(MPI_Comm comm, enum mode mode)
{
    static int first, between[100], second, all[2 * 64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Datatype type = absolute(&first, &second);
    snprintf(testing_label, sizeof testing_label, "MPI_BOTTOM, %s", mode_names[mode]);
    for (int root = 0; root < size; root++) {
        first = rank == root ? 10 + root : -1, second = rank == root ? 20 + root : -1,
        between[50] = 5;
        run(mode, &(struct call){.coll = COLL_Bcast,
                                 .recvbuf = MPI_BOTTOM,
                                 .recvcount = 1,
                                 .recvtype = type,
                                 .sendtype = MPI_DATATYPE_NULL,
                                 .root = root,
                                 .comm = comm});
        CHECK(first == 10 + root && second == 20 + root && between[50] == 5, "bcast: %d %d", first,
              second);
    }
    first = rank, second = -rank;
    run(mode, &(struct call){.coll = COLL_Allgather,
                             .sendbuf = MPI_BOTTOM,
                             .sendcount = 1,
                             .sendtype = type,
                             .recvbuf = all,
                             .recvcount = 2,
                             .recvtype = MPI_INT,
                             .comm = comm});
    for (int r = 0; r < size; r++)
        CHECK(all[2 * r] == r && all[2 * r + 1] == -r, "allgather: %d %d", all[2 * r],
              all[2 * r + 1]);
    MPI_Type_free(&type);
}

/* Even ranks against odd ranks. */
static void inter(enum mode mode)
{
    MPI_Comm half, across;
    int rank, size, others;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &across);
    MPI_Comm_remote_size(across, &others);
    snprintf(testing_label, sizeof testing_label, "intercommunicator, %s", mode_names[mode]);
    int word = rank == 0 ? 77 : -1, sum = 0, all[64] = {0}, expected = 0;
    run(mode, &(struct call){.coll = COLL_Bcast,
                             .recvbuf = &word,
                             .recvcount = 1,
                             .recvtype = MPI_INT,
                             .sendtype = MPI_DATATYPE_NULL,
                             .comm = across,
                             .root = rank % 2    ? 0
                                     : rank == 0 ? MPI_ROOT
                                                 : MPI_PROC_NULL});
    CHECK(word == (rank % 2 || rank == 0 ? 77 : -1), "bcast: %d", word);
    run(mode, &(struct call){.coll = COLL_Allreduce,
                             .sendbuf = &rank,
                             .recvbuf = &sum,
                             .recvcount = 1,
                             .sendtype = MPI_DATATYPE_NULL,
                             .recvtype = MPI_INT,
                             .op = MPI_SUM,
                             .comm = across});
    for (int r = 1 - rank % 2; r < size; r += 2)
        expected += r;
    CHECK(sum == expected, "allreduce: %d, not %d", sum, expected);
    run(mode, &(struct call){.coll = COLL_Allgather,
                             .sendbuf = &rank,
                             .sendcount = 1,
                             .sendtype = MPI_INT,
                             .recvbuf = all,
                             .recvcount = 1,
                             .recvtype = MPI_INT,
                             .comm = across});
    for (int i = 0; i < others; i++)
        CHECK(all[i] == 2 * i + 1 - rank % 2, "allgather: %d", all[i]);
    run(mode, &(struct call){.coll = COLL_Barrier,
                             .sendtype = MPI_DATATYPE_NULL,
                             .recvtype = MPI_DATATYPE_NULL,
                             .comm = across});
    if (mode == BLOCKING) {
        int class;
        MPI_Comm_set_errhandler(across, MPI_ERRORS_RETURN);
        MPI_Error_class(CRESTA_Set_impl(across, "*=nonblock"), &class);
        CHECK(class == MPI_ERR_COMM, "CRESTA_Set_impl on an intercommunicator: class %d", class);
        MPI_Error_class(CRESTA_Comm_prepare(across), &class);
        CHECK(class == MPI_SUCCESS, "CRESTA_Comm_prepare on an intercommunicator: class %d", class);
    }
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

/* Nonblocking calls in operation, blocking ones in between on the same communicator, completed in
 * another order. */
static void in_flight(MPI_Comm comm)
{
    enum { N = 8 };
    int in[N], sum[N], rank, size, total = 0;
    MPI_Request requests[N];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(testing_label, sizeof testing_label, "operations in flight around blocking calls");
    for (int i = 0; i < N; i++) {
        in[i] = rank + i;
        CRESTA_Iallreduce(&in[i], &sum[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
        CRESTA_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comm);
        CHECK(total == size * (size - 1) / 2, "blocking: %d", total);
    }
    for (int i = N - 1; i >= 0; i--)
        wait_politely(&requests[i]);
    for (int i = 0; i < N; i++)
        CHECK(sum[i] == size * (size - 1) / 2 + i * size, "nonblocking %d: %d", i, sum[i]);
}

/* Started before anything blocking has happened on the communicator: no state may be made inside
 * MPI_Ix. */
static void nonblocking_first(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int one = 1, sum = 0, rank, size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(testing_label, sizeof testing_label, "nonblocking first");
    CRESTA_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    if (rank == 0) /* the others must get past their start before rank 0 goes on */
        for (int r = 1; r < size; r++)
            MPI_Recv(NULL, 0, MPI_INT, r, 5, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(NULL, 0, MPI_INT, 0, 5, comm);
    wait_politely(&request);
    CHECK(sum == size, "sum %d", sum);
    MPI_Comm_free(&comm);
}

/* Many calls in one direction: the root runs ahead of the others, data of two sizes in turn. */
static void one_way(MPI_Comm comm)
{
    static int words[700];
    int rank;
    MPI_Comm_rank(comm, &rank);
    snprintf(testing_label, sizeof testing_label, "many broadcasts from one root");
    for (int k = 0; k < 500; k++) {
        const int n = k % 5 == 0 ? LEN(words) : 1 + k % 7;
        for (int i = 0; i < n; i++)
            words[i] = rank == 0 ? k + i : -1;
        run(BLOCKING, &(struct call){.coll = COLL_Bcast,
                                     .recvbuf = words,
                                     .recvcount = n,
                                     .recvtype = MPI_INT,
                                     .sendtype = MPI_DATATYPE_NULL,
                                     .comm = comm});
        CHECK(words[0] == k && words[n - 1] == k + n - 1, "%d: %d %d", k, words[0], words[n - 1]);
    }
}

/* Ints from each rank to each, with this rank's row `counts` of how many. */
static void exchange(MPI_Comm comm, const int *counts, const int *from_all, int typed, int step)
{
    enum { MOST = 64 };
    static int send[64 * MOST], recv[64 * MOST], at[64], bytes[64];
    static MPI_Datatype types[64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) {
        at[i] = i * MOST;
        bytes[i] = at[i] * (int)sizeof(int);
        types[i] = step % 3 ? MPI_INT : MPI_FLOAT;
        for (int k = 0; k < counts[i]; k++)
            send[at[i] + k] = 1000 * step + 100 * rank + 10 * i + k;
    }
    if (typed)
        CRESTA_Alltoallw(send, counts, bytes, types, recv, from_all, bytes, types, comm);
    else
        CRESTA_Alltoallv(send, counts, at, MPI_INT, recv, from_all, at, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < from_all[i]; k++)
            CHECK(recv[at[i] + k] == 1000 * step + 100 * i + 10 * rank + k, "step %d: %d from %d",
                  step, recv[at[i] + k], i);
}

/* The same arrays with other contents, and the same contents again: what was remembered of a call
 * holds only for what it was given. */
static void arrays_change(MPI_Comm comm)
{
    static int counts[64], from_all[64], moved[64];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(testing_label, sizeof testing_label, "arrays whose contents change");
    for (int step = 0; step < 24; step++) {
        for (int i = 0; i < size; i++) {
            counts[i] = (rank + 2 * i + step / 2) % 5;
            from_all[i] = moved[i] = (i + 2 * rank + step / 2) % 5;
        }
        exchange(comm, counts, step % 4 ? from_all : moved, 0, step);
        exchange(comm, counts, from_all, 1, step);
    }
}

/* A handle that is freed comes back, for a communicator of other ranks: nothing of the old one may
 * be left. */
static void handles_come_back(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 20; k++) {
        MPI_Comm comm;
        const int colour = k % 2 ? 0 : rank % 2;
        int one = 1, sum = 0, members;
        snprintf(testing_label, sizeof testing_label, "communicator %d, made and freed", k);
        MPI_Comm_split(MPI_COMM_WORLD, colour, -rank, &comm);
        MPI_Comm_size(comm, &members);
        choose(comm);
        run(BLOCKING, &(struct call){.coll = COLL_Allreduce,
                                     .sendbuf = &one,
                                     .sendtype = MPI_DATATYPE_NULL,
                                     .recvbuf = &sum,
                                     .recvcount = 1,
                                     .recvtype = MPI_INT,
                                     .op = MPI_SUM,
                                     .comm = comm});
        CHECK(sum == members, "%d of %d members", sum, members);
        MPI_Comm_free(&comm);
    }
}

static void everything(const char *name)
{
    MPI_Comm comm;
    int size;
    impl = name;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nonblocking_first();
    handles_come_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm);
    for (enum mode mode = BLOCKING; mode < MODES; mode++) {
        if (!mode_exists(mode) || mode == FREED)
            continue;
        if (!mode_persistent(mode)) /* MPICH 4.0: known.c on persistent allgather */
            bottom(comm, mode);
        if (size > 1 && !mode_persistent(mode))
            inter(mode);
    }
    one_way(comm);
    arrays_change(comm);
    in_flight(comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    testing_each(argc > 1 ? argv[1] : "mpi", everything);
    MPI_Finalize();
    return testing_end("special");
}
