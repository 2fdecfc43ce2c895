/* SPDX-License-Identifier: BSD-3-Clause */
/* aliased.c - calls whose send and receive buffer are one: where the MPI refuses them the program
 * gets its error, under every implementation; where it does not, reductions are in place, and what
 * a root or a rank keeps for itself stays.  Calls with two buffers come before and after, so that
 * none is taken for another that was remembered.
 *
 *     aliased IMPL,...
 */
#include "call.h"
#include "testing/testing.h"

enum { MOST = 5000, RANKS = 8, STEP = 100000 };
static int one[MOST * RANKS], other[MOST * RANKS], counts[RANKS], displs[RANKS];
static int rank, size;

static void fill(void)
{
    for (int i = 0; i < MOST * RANKS; i++) {
        one[i] = rank * STEP + i;
        other[i] = -1;
    }
}

static int root_of(enum coll coll)
{
    return coll_shapes[coll].rooted ? size - 1 : 0;
}

static bool receives(enum coll coll)
{
    return !coll_shapes[coll].rooted || rank == root_of(coll) || coll == COLL_Scatter ||
           coll == COLL_Scatterv;
}

/* A call of n numbers for each rank, on which buffers its data lie in one array or in two. */
static struct call call_of(enum coll coll, int n, bool aliased, MPI_Comm comm)
{
    const struct coll_shape *s = &coll_shapes[coll];
    int *to = aliased ? one : other;
    struct call c = {.coll = coll,
                     .sendbuf = one,
                     .recvbuf = to,
                     .sendcount = n,
                     .recvcount = n,
                     .sendtype = MPI_INT,
                     .recvtype = MPI_INT,
                     .op = MPI_SUM,
                     .root = root_of(coll),
                     .comm = comm};
    if (s->moves && !s->sends_all)
        c.sendbuf = one + rank * n;
    else if (s->moves && !s->receives_all)
        c.recvbuf = to + rank * n;
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        displs[i] = i * n;
    }
    if (s->uneven) {
        c.sendcounts = c.recvcounts = counts;
        c.senddispls = c.recvdispls = displs;
    }
    return c;
}

/* The sum of number i of the ranks before `end`. */
static int sum(int end, int i)
{
    return end * (end - 1) / 2 * STEP + end * i;
}

/* What number i of the result is. */
static int expected(enum coll coll, int n, int i)
{
    switch (coll) {
    case COLL_Scan:
        return sum(rank + 1, i);
    case COLL_Exscan:
        return sum(rank, i);
    case COLL_Reduce_scatter:
    case COLL_Reduce_scatter_block:
        return sum(size, rank * n + i);
    case COLL_Allreduce:
    case COLL_Reduce:
        return sum(size, i);
    case COLL_Scatter:
    case COLL_Scatterv:
        return root_of(coll) * STEP + rank * n + i;
    default:
        return i / n * STEP + i;
    }
}

static void right(const struct call *c, int n)
{
    const int *got = c->recvbuf;
    const int all = coll_shapes[c->coll].receives_all ? n * size : n;
    long wrong = 0;
    if (!receives(c->coll) || (c->coll == COLL_Exscan && rank == 0))
        return;
    for (int i = 0; i < all; i++)
        wrong += got[i] != expected(c->coll, n, i);
    CHECK(wrong == 0, "%ld of %d numbers are wrong", wrong, all);
}

static int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static int made(enum mode mode, const struct call *c)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill();
    int class = class_of(call_make(mode, c, &request));
    if (class == MPI_SUCCESS && mode != BLOCKING)
        class = class_of(call_end(mode, &request));
    return class;
}

/* What the MPI says to it, on one rank: an error class. */
static int refused(enum coll coll, int n)
{
    const int ranks = size, mine = rank;
    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    CRESTA_Set_impl(alone, "*=mpi");
    size = 1;
    rank = 0;
    const struct call c = call_of(coll, n, true, alone);
    const int class = made(BLOCKING, &c);
    size = ranks;
    rank = mine;
    MPI_Comm_free(&alone);
    return class;
}

static void two_buffers(enum mode mode, enum coll coll, int n, MPI_Comm comm)
{
    const struct call c = call_of(coll, n, false, comm);
    const int class = made(mode, &c);
    CHECK(class == MPI_SUCCESS, "two buffers: class %d", class);
    right(&c, n);
}

/* Only the root of a rooted call has both buffers: it makes the call once more, for the others. */
static void one_buffer(enum mode mode, enum coll coll, int n, MPI_Comm comm)
{
    const bool rooted = coll_shapes[coll].rooted;
    const int class = refused(coll, n);
    const struct call c = call_of(coll, n, true, comm); /* all calls have the same arrays */
    if (class == MPI_SUCCESS || !rooted || rank == root_of(coll)) {
        const int got = made(mode, &c);
        CHECK(got == class, "one buffer: class %d, the MPI's is %d", got, class);
    }
    if (class == MPI_SUCCESS)
        right(&c, n);
    else if (rooted)
        two_buffers(mode, coll, n, comm);
}

static void run(const char *impl)
{
    static const int sizes[] = {1, MOST};
    MPI_Comm comm;
    char spec[128];
    snprintf(spec, sizeof spec, "*=%s", impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "%s", spec);
    for (enum coll coll = 0; coll < WHOLE_COLLS; coll++) {
        const struct coll_shape *s = &coll_shapes[coll];
        if (coll == COLL_Barrier || coll == COLL_Bcast || coll == COLL_Alltoallw)
            continue;
        const bool exchanges = s->moves && s->sends_all && s->receives_all;
        for (int i = 0; i < LEN(sizes); i++) {
            const bool refuses = refused(coll, sizes[i]) != MPI_SUCCESS;
            for (int turn = 0; turn < 4 && (!exchanges || refuses); turn++) {
                const enum mode mode = turn < 2 || s->rooted || refuses ? BLOCKING : SPLIT;
                snprintf(testing_label, sizeof testing_label, "%s of %d, %s, turn %d",
                         coll_names[coll], sizes[i], mode_names[mode], turn);
                if (!exchanges)
                    two_buffers(mode, coll, sizes[i], comm);
                one_buffer(mode, coll, sizes[i], comm);
            }
        }
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI takes that one */
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Finalize();
    return testing_end("aliased");
}
