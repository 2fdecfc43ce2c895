/* SPDX-License-Identifier: BSD-3-Clause */
/* landed.c - streaming completion (CRESTA_Coll_some): each block is read at the moment at which it
 * is reported, and is reported once; ranks come late; types with gaps; in place; requests that are
 * ended before all are reported; calls that are complete from the start; wrong requests.
 *
 *     landed IMPL,...          under each implementation
 *     landed --early IMPL,...  and blocks come while another rank has not even begun */
#include <time.h>

#include "choose.h"
#include "topology.h"

enum { MOST = 64, LONGEST = 4000, HOLE = -7 };

static int rank, size;
static MPI_Comm comm;
static MPI_Datatype gapped; /* an int, and room for another */

/* One call: its receive buffer, and what block i must be. */
struct received {
    int blocks, stride; /* ints of memory of an element */
    int *buffer;
    int at[MOST], n[MOST];      /* elements */
    int from[MOST], slot[MOST]; /* whose, and which of the sender's blocks; from -1: nobody's */
    MPI_Request request;
};

static int value(int from, int slot, int k)
{
    return 100000 * (from + 1) + 5000 * (slot % 20) + k;
}

/* Blocks of n ints at distances of `room` elements, all HOLE. */
static void prepare(struct received *r, int blocks, int room, int stride)
{
    const size_t ints = (size_t)(blocks + 1) * (size_t)room * (size_t)stride + 1;
    *r = (struct received){.blocks = blocks, .stride = stride, .buffer = malloc(4 * ints)};
    for (size_t i = 0; i < ints; i++)
        r->buffer[i] = HOLE;
    for (int i = 0; i < blocks; i++)
        r->at[i] = i * room;
}

static void verify(const struct received *r, int block)
{
    const int *at = r->buffer + r->at[block] * r->stride;
    int wrong = 0, first = -1;
    for (int k = 0; k < r->n[block] * r->stride; k++) {
        const bool data = k % r->stride == 0 && r->from[block] >= 0;
        const int want = data ? value(r->from[block], r->slot[block], k / r->stride) : HOLE;
        wrong += at[k] != want;
        first = at[k] != want && first < 0 ? k : first;
    }
    CHECK(wrong == 0, "block %d: %d of %d wrong, the first is %d: %d", block, wrong,
          r->n[block] * r->stride, first, first >= 0 ? at[first] : 0);
}

/* Reads blocks as they are reported until `most` are, and returns how many were.  Some calls wait,
 * others do not; some have room for one number only. */
static int read_blocks(struct received *r, int most, int room, bool waits)
{
    int list[MOST], seen[MOST] = {0}, told = 0, n = 0;
    while (told < most) {
        const int rc = waits ? CRESTA_Coll_some(r->request, room, list, &n)
                             : CRESTA_Coll_testsome(r->request, room, list, &n);
        CHECK(rc == MPI_SUCCESS, "error %d", rc);
        if (n == MPI_UNDEFINED || rc != MPI_SUCCESS)
            break;
        CHECK(n <= room && (n > 0 || !waits), "%d blocks in room for %d", n, room);
        for (int i = 0; i < n; i++) {
            CHECK(list[i] >= 0 && list[i] < r->blocks && !seen[list[i]]++, "block %d again",
                  list[i]);
            verify(r, list[i]);
        }
        told += n;
    }
    return told;
}

static void is_undefined(MPI_Request request, const char *when)
{
    int list[1], n = 0;
    CHECK(CRESTA_Coll_some(request, 1, list, &n) == MPI_SUCCESS && n == MPI_UNDEFINED, "%d %s", n,
          when);
}

/* Reads all, or some, ends the request, and reads everything once more. */
static void finish(struct received *r, int turn)
{
    const bool partly = turn % 5 == 4;
    const int most = partly ? r->blocks / 2 : r->blocks;
    const int told = read_blocks(r, most, turn % 3 == 0 ? 1 : MOST, turn % 2 == 0);
    CHECK(partly ? told >= most : told == most, "%d of %d blocks", told, most);
    if (!partly)
        is_undefined(r->request, "after the last block");
    if (turn % 4 == 3)
        MPI_Wait(&r->request, MPI_STATUS_IGNORE);
    else
        CRESTA_Coll_end(1, &r->request);
    CHECK(r->request == MPI_REQUEST_NULL, "it has not ended");
    is_undefined(r->request, "after the end");
    for (int i = 0; i < r->blocks; i++)
        verify(r, i);
    free(r->buffer);
}

/* Another rank is late each time. */
static void come_late(int turn)
{
    if (turn % size == rank)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static int *fill(int blocks, int room)
{
    int *data = malloc(sizeof *data * ((size_t)blocks * (size_t)room + 1));
    for (int i = 0; i < blocks; i++)
        for (int k = 0; k < room; k++)
            data[i * room + k] = value(rank, i, k);
    return data;
}

static void try_alltoall(int turn, int n, bool gaps)
{
    struct received r;
    prepare(&r, size, n, gaps ? 2 : 1);
    int *send = fill(size, n);
    for (int i = 0; i < size; i++)
        r.n[i] = n, r.from[i] = i, r.slot[i] = rank;
    come_late(turn);
    CRESTA_Alltoall_begin(send, n, MPI_INT, r.buffer, n, gaps ? gapped : MPI_INT, comm, &r.request);
    finish(&r, turn);
    free(send);
}

/* From rank i to rank j; none from some. */
static int length(int i, int j, int n)
{
    return n * ((i + 2 * j) % 3) / 2;
}

static void try_alltoallv(int turn, int n, bool types)
{
    struct received r;
    int counts[MOST], displs[MOST], recvcounts[MOST], bytes[MOST], places[MOST];
    MPI_Datatype give[MOST], take[MOST];
    prepare(&r, size, n, types ? 2 : 1);
    int *send = fill(size, n);
    for (int i = 0; i < size; i++) {
        counts[i] = length(rank, i, n);
        displs[i] = i * n;
        recvcounts[i] = r.n[i] = length(i, rank, n);
        r.from[i] = i, r.slot[i] = rank;
        bytes[i] = 4 * displs[i], places[i] = 4 * r.at[i] * r.stride;
        give[i] = MPI_INT, take[i] = gapped;
    }
    come_late(turn);
    if (types)
        CRESTA_Alltoallw_begin(send, counts, bytes, give, r.buffer, recvcounts, places, take, comm,
                               &r.request);
    else
        CRESTA_Alltoallv_begin(send, counts, displs, MPI_INT, r.buffer, recvcounts, r.at, MPI_INT,
                               comm, &r.request);
    finish(&r, turn);
    free(send);
}

/* allgather, allgatherv, gather, gatherv; where they gather to all, in place in some turns. */
static void try_gathers(int turn, int n, bool uneven, bool rooted, bool gaps)
{
    struct received r;
    const int root = (turn + 1) % size, mine = uneven ? n * (rank % 3) : n;
    const bool in_place = !rooted && turn % 2 == 1;
    const MPI_Datatype type = gaps ? gapped : MPI_INT;
    prepare(&r, rooted && rank != root ? 0 : size, uneven ? 2 * n : n, gaps ? 2 : 1);
    int *send = fill(1, uneven ? 2 * n : n);
    for (int i = 0; i < r.blocks; i++)
        r.n[i] = uneven ? n * (i % 3) : n, r.from[i] = i, r.slot[i] = 0;
    for (int k = 0; in_place && k < mine; k++)
        r.buffer[(r.at[rank] + k) * r.stride] = send[k];
    const void *from = in_place ? MPI_IN_PLACE : send;
    come_late(turn);
    if (rooted && uneven)
        CRESTA_Gatherv_begin(from, mine, MPI_INT, r.buffer, r.n, r.at, type, root, comm,
                             &r.request);
    else if (rooted)
        CRESTA_Gather_begin(from, n, MPI_INT, r.buffer, n, type, root, comm, &r.request);
    else if (uneven)
        CRESTA_Allgatherv_begin(from, mine, MPI_INT, r.buffer, r.n, r.at, type, comm, &r.request);
    else
        CRESTA_Allgather_begin(from, n, MPI_INT, r.buffer, n, type, comm, &r.request);
    finish(&r, turn);
    free(send);
}

static void try_neighbors(int turn, int n, const char *impl)
{
    struct graph g;
    struct received r;
    char spec[256];
    graph_by_chance(&g, size, 500 + (uint64_t)turn, false);
    MPI_Comm grid = topology_make(MPI_COMM_WORLD, &g);
    snprintf(spec, sizeof spec, "neighbor_*=%.*s", (int)strcspn(impl, ":"), impl);
    CRESTA_Set_impl(grid, spec);
    const struct graph_ends *in = &g.in[rank], *out = &g.out[rank];
    prepare(&r, in->count < MOST ? in->count : 0, n, 1);
    int *send = fill(out->count, n);
    for (int i = 0; i < r.blocks; i++)
        r.n[i] = n, r.from[i] = in->peer[i], r.slot[i] = in->slot[i];
    come_late(turn);
    if (turn % 2 == 0) {
        CRESTA_Neighbor_alltoall_begin(send, n, MPI_INT, r.buffer, n, MPI_INT, grid, &r.request);
    } else {
        for (int i = 0; i < r.blocks; i++)
            r.slot[i] = 0;
        CRESTA_Neighbor_allgather_begin(send, n, MPI_INT, r.buffer, n, MPI_INT, grid, &r.request);
    }
    MPI_Comm_free(&grid);
    finish(&r, turn);
    free(send);
    graph_free(&g);
}

/* Calls with one handle, if the MPI does that; one of them has no blocks. */
static void try_alike(int turn)
{
    struct received r[2];
    MPI_Request other;
    int sum = 0, mine[2] = {value(0, 0, 0), value(0, 0, 0)}, none[MOST] = {0};
    MPI_Request empty[2];
    for (int i = 0; i < 2; i++) {
        prepare(&r[i], 1, 1, 1);
        r[i].n[0] = 1;
        CRESTA_Alltoall_begin(&mine[i], 1, MPI_INT, r[i].buffer, 1, MPI_INT, MPI_COMM_SELF,
                              &r[i].request);
        CRESTA_Allreduce_begin(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &other);
        CRESTA_Coll_end(1, &other);
        CRESTA_Alltoallv_begin(mine, none, none, MPI_INT, mine, none, none, MPI_INT, comm,
                               &empty[i]);
    }
    for (int i = 0; i < 2; i++) {
        struct received nothing = {.blocks = size, .stride = 1, .request = empty[i]};
        finish(&r[i], turn);
        CHECK(read_blocks(&nothing, size, MOST, true) == size, "call %d", i);
        empty[i] = nothing.request;
    }
    CRESTA_Coll_end(2, empty);
}

static void try_wrong(void)
{
    int list[2], n = 0, rc, x = 0, y = 0, ignored;
    MPI_Request request;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    is_undefined(MPI_REQUEST_NULL, "of a null request");
    CRESTA_Allreduce_begin(&x, &y, 1, MPI_INT, MPI_SUM, comm, &request);
    rc = CRESTA_Coll_some(request, 2, list, &n);
    CHECK(rc == MPI_ERR_REQUEST && n == MPI_UNDEFINED, "an allreduce: %d", rc);
    CRESTA_Coll_end(1, &request);
    CRESTA_Allgather_begin(&rank, 1, MPI_INT, (int[MOST]){0}, 1, MPI_INT, comm, &request);
    rc = CRESTA_Coll_some(request, 0, list, &n);
    CHECK(rc == MPI_ERR_ARG, "no room: %d", rc);
    while (CRESTA_Coll_some(request, 2, list, &n) == MPI_SUCCESS && n != MPI_UNDEFINED)
        continue;
    CRESTA_Coll_test(1, &request, &ignored);
    CRESTA_Coll_end(1, &request);
}

static void everything(const char *impl)
{
    static const int sizes[] = {1, 100, LONGEST};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    /* Where the MPI's own calls run, some are wrong (docs/mpi-defects.md). */
    const char *async = getenv("CRESTA_ASYNC");
    const bool ours = size > 1 && async != NULL && strcmp(async, "thread") == 0 &&
                      strcmp(impl, "mpi") != 0;
    for (int turn = 0; turn < 12; turn++) {
        const int n = sizes[turn % LEN(sizes)];
        snprintf(testing_label, sizeof testing_label, "turn %d", turn);
        try_alltoall(turn, n, turn % 4 == 1);
        try_alltoallv(turn, n, turn % 4 == 2);
        for (int kind = 0; kind < 4; kind++)
            try_gathers(turn + kind, n, kind & 1, kind & 2, turn % 4 == 3);
        if (ours)
            try_neighbors(turn, n, impl);
    }
    try_alike(0);
    try_alike(7);
    MPI_Comm_free(&comm);
}

/* The last rank begins when all others have told it that they have every block but its own. */
static void early(const char *impl)
{
    static int buffer[MOST], send[MOST];
    struct received r = {.blocks = size, .stride = 1, .buffer = buffer};
    const int last = size - 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    CRESTA_Comm_prepare(comm);
    for (int i = 0; i < size; i++) {
        r.at[i] = i, r.n[i] = 1, r.from[i] = i, r.slot[i] = rank;
        send[i] = value(rank, i, 0);
        buffer[i] = HOLE;
    }
    snprintf(testing_label, sizeof testing_label, "blocks come before the last rank has begun");
    for (int i = 0; rank == last && i < last; i++)
        MPI_Recv(NULL, 0, MPI_INT, i, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CRESTA_Alltoall_begin(send, 1, MPI_INT, buffer, 1, MPI_INT, comm, &r.request);
    if (rank != last) {
        CHECK(read_blocks(&r, last, 1, true) == last, "blocks");
        CHECK(buffer[last] == HOLE, "the last block is there");
        MPI_Send(NULL, 0, MPI_INT, last, 3, MPI_COMM_WORLD);
    }
    CRESTA_Coll_end(1, &r.request);
    for (int i = 0; i < size; i++)
        verify(&r, i);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const bool is_early = argc > 2 && strcmp(argv[1], "--early") == 0;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    testing_each(argv[argc - 1], is_early ? early : everything);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (!is_early)
        try_wrong();
    MPI_Comm_free(&comm);
    MPI_Type_free(&gapped);
    MPI_Finalize();
    return testing_end("landed");
}
