/* SPDX-License-Identifier: BSD-3-Clause */
/* leaves.c - error handlers that do not come back (longjmp, as C++ exceptions do too), and some
 * that call collectives themselves: afterwards everything goes on.
 *
 *     leaves [IMPL,... [LEVEL]]    linked
 *     leaves_plain IMPL,...        plain, for the preload library: communicators of these names
 */
#include "choose.h"

#include <setjmp.h>

#if defined(PLAIN_MPI)
#define CALL(name) MPI_##name
#else
#define CALL(name) CRESTA_##name
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

static jmp_buf back;
static MPI_Comm other, own;
static int rank, size, handled;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
    longjmp(back, 1);
}

static void sum_on_other(const char *when)
{
    int one = 1, sum = -1;
    snprintf(testing_label, sizeof testing_label, "%s", when);
    CALL(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    CHECK(sum == size, "sum %d", sum);
}

/* Not the first nor the last thing that is done on the other communicator. */
static void call_others(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
    sum_on_other("in an error handler");
}

/* Where arguments are wrong on rank 0, alone on its communicator. */
static void wrong(int which)
{
    int in[4] = {0}, out[4] = {0};
    if (which == 0)
        CALL(Bcast)(in, -1, MPI_INT, 0, own);
    else if (which == 1)
        CALL(Bcast)(in, 1, MPI_INT, 7, own);
    else if (which == 2)
        CALL(Allreduce)(in, out, 1, MPI_INT, MPI_OP_NULL, own);
    else if (which == 3)
        CALL(Allreduce)(in, out, 1, MPI_DOUBLE, MPI_BAND, own);
    else if (which == 4)
        CALL(Alltoall)(in, -1, MPI_INT, out, -1, MPI_INT, own);
    else if (which == 5)
        CALL(Gather)(in, -1, MPI_INT, out, -1, MPI_INT, 0, own);
    else if (which == 6)
        CALL(Bcast)(in, 1, MPI_DATATYPE_NULL, 0, own);
    else
        CALL(Allgather)(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, own);
}

enum { WRONG = 8 };

static void by_jump(int i)
{
    snprintf(testing_label, sizeof testing_label, "wrong arguments %d", i);
    handled = 0;
    if (rank == 0 && setjmp(back) == 0)
        wrong(i);
    CHECK(handled == (rank == 0), "%d handlers ran", handled);
    sum_on_other("after an error handler that left");
}

static void by_call(int i)
{
    handled = 0;
    if (rank == 0)
        wrong(i);
    else
        sum_on_other("while rank 0 is in its error handler");
    CHECK(handled == (rank == 0), "%d handlers ran", handled);
    sum_on_other("after an error handler that called");
}

static void with_handler(MPI_Comm_errhandler_function *handler, void (*run)(int))
{
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(own, made);
    for (int i = 0; i < WRONG; i++)
        run(i);
    MPI_Errhandler_free(&made);
}

#if !defined(PLAIN_MPI)
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
enum { IS_OPEN_MPI_5 = 1 };
#else
enum { IS_OPEN_MPI_5 = 0 };
#endif
#if defined(OPEN_MPI)
enum { LOOKS_FAIL = 0 };
#else
enum { LOOKS_FAIL = 1 }; /* MPI_Request_get_status of a request that has failed */
#endif

static MPI_Comm pair;
static int two[2], room[2];

/* Two numbers from each rank to the next, which has room for one. */
static void exchange(MPI_Request *received, MPI_Request *sent)
{
    MPI_Irecv(room, 1, MPI_INT, (rank + size - 1) % size, 3, pair, received);
    MPI_Isend(two, 2, MPI_INT, (rank + 1) % size, 3, pair, sent);
}

/* In Open MPI 4 such a request is one that MPI_Waitall waits for without end, with
 * MPI_THREAD_MULTIPLE. */
static void until_complete(int n, MPI_Request r[])
{
    for (int i = 0, done = 0; i < n; i += done != 0)
        MPI_Request_get_status(r[i], &done, MPI_STATUS_IGNORE);
}

enum { UNSEEN = -1 };

static int untouched(int n, const MPI_Status statuses[])
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += statuses[i].MPI_ERROR == UNSEEN;
    return count;
}

/* What a wait for all has written, of which the last request has failed: the others are over, or
 * still there.  Under MPICH the handler may run when the wait looks at that request alone, before
 * anything is written (docs/mpi-defects.md). */
static void check_statuses(int n, const MPI_Request r[], const MPI_Status statuses[])
{
    if (LOOKS_FAIL && untouched(n, statuses) == n)
        return;
    CHECK(untouched(n, statuses) == 0, "%d statuses of %d", untouched(n, statuses), n);
    for (int i = 0; i < n; i++) {
        int class = MPI_SUCCESS;
        const int others = r[i] == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_ERR_PENDING,
                  wanted = i < n - 1 ? others : MPI_ERR_TRUNCATE;
        if (statuses[i].MPI_ERROR != UNSEEN)
            MPI_Error_class(statuses[i].MPI_ERROR, &class);
        CHECK(class == wanted, "status %d: class %d, not %d", i, class, wanted);
    }
    CHECK(r[n - 1] == MPI_REQUEST_NULL, "the request that failed is still there");
}

/* A wait that fails while calls of ours are under way, or when all is over: for the message alone,
 * or for all. */
static void a_wait(int round, int all, int late)
{
    enum { N = 4 };
    static int mine, sums[N], written;
    static MPI_Request r[N + 1], sent;
    static MPI_Status statuses[N + 1];
    /* Without, Open MPI 5 loses errors: docs/mpi-defects.md. */
    const int with = round % 4 == 1 || (late && IS_OPEN_MPI_5);
    mine = rank + round;
    snprintf(testing_label, sizeof testing_label, "a wait that fails");
    exchange(&r[N], &sent);
    for (int i = 0; i < N; i++) {
        sums[i] = -1;
        CRESTA_Allreduce_begin(&mine, &sums[i], 1, MPI_INT, MPI_SUM, other, &r[i]);
    }
    for (int i = 0; i < N + 1; i++)
        statuses[i].MPI_ERROR = UNSEEN;
    handled = written = 0;
    if (setjmp(back) == 0) {
        if (late)
            until_complete(N + 1, r);
        written = all && with;
        if (all)
            MPI_Waitall(N + 1, r, with ? statuses : MPI_STATUSES_IGNORE);
        else
            MPI_Wait(&r[N], MPI_STATUS_IGNORE);
    }
    CHECK(handled == 1, "%d handlers ran", handled);
    if (written)
        check_statuses(N + 1, r, statuses);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    snprintf(testing_label, sizeof testing_label, "after a wait that failed");
    MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK(sums[i] == size * (size - 1) / 2 + size * mine - size * rank, "sum %d", sums[i]);
}

/* Some MPIs call the handler of MPI_COMM_WORLD for errors of requests. */
static void waits(void)
{
    MPI_Errhandler made;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_create_errhandler(leave, &made);
    MPI_Comm_set_errhandler(pair, made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
    MPI_Errhandler_free(&made);
    for (int round = 0; round < 12; round++) {
        a_wait(round, round % 2, round % 3 == 2);
        sum_on_other("after waits that failed");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&pair);
}
#endif

static void run(const char *impl)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    choose(other, impl);
    choose(own, impl);
    with_handler(leave, by_jump);
    with_handler(call_others, by_call);
#if !defined(PLAIN_MPI)
    waits();
#endif
    MPI_Comm_free(&own);
    MPI_Comm_free(&other);
}

int main(int argc, char **argv)
{
    int level = argc > 2 ? atoi(argv[2]) : MPI_THREAD_SINGLE;
    testing_watchdog(20);
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Finalize();
    return testing_end("leaves");
}
