/* SPDX-License-Identifier: BSD-3-Clause */
/* multisend.c - sends to lists of ranks: CRESTA_Exchange, multicasts, many-to-manys,
 * CRESTA_Sneighbor_alltoall; lists at random, ranks that come late, the program's own messages to
 * anybody meanwhile, wrong arguments.
 *
 *     multisend */
#include <time.h>

#include <cresta_multisend.h>

#include "testing/testing.h"
#include "topology.h"

enum { MOST = 40, LONGEST = 3000 };

static int rank, size;
static unsigned long shared = 7; /* a generator of numbers that all ranks know */

static int random_below(int n)
{
    unsigned long z = shared += 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return (int)((z ^ z >> 31) % (unsigned long)n);
}

/* Messages of all ranks: every rank knows all, and uses its own. */
struct plan {
    int count[64]; /* of each rank, */
    int to[64][MOST], n[64][MOST];
};

static void make_plan(struct plan *p, int most, bool equal)
{
    for (int from = 0; from < size; from++) {
        p->count[from] = random_below(most + 1);
        const int n = random_below(3) == 0 ? random_below(LONGEST) : random_below(5);
        for (int i = 0; i < p->count[from]; i++) {
            const int one = random_below(3) == 0 ? random_below(LONGEST) : random_below(5);
            p->to[from][i] = random_below(8) == 0 ? MPI_PROC_NULL : random_below(size);
            p->n[from][i] = equal ? n : one;
        }
    }
}

static int value(int from, int i, int k, int turn)
{
    return 1000000 * from + 100 * i + k % 97 + 10000 * turn;
}

/* A number of milliseconds that differs between ranks. */
static void come_late(int turn)
{
    if (turn % size == rank)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

/* Fills a send buffer with this rank's messages, elements at distances of `stride`. */
static int *fill(const struct plan *p, int turn, int stride, int displs[])
{
    int total = 0;
    for (int i = 0; i < p->count[rank]; i++) {
        displs[i] = total;
        total += p->n[rank][i];
    }
    int *data = malloc(sizeof *data * ((size_t)total * (size_t)stride + 1));
    for (int i = 0; i < p->count[rank]; i++)
        for (int k = 0; k < p->n[rank][i]; k++)
            data[(displs[i] + k) * stride] = value(rank, i, k, turn);
    return data;
}

/* What must have come, in the order of sources. */
static int expected(const struct plan *p, int sources[], int slots[], int counts[])
{
    int n = 0;
    for (int from = 0; from < size; from++)
        for (int i = 0; i < p->count[from]; i++)
            if (p->to[from][i] == rank) {
                sources[n] = from;
                slots[n] = i;
                counts[n++] = p->n[from][i];
            }
    return n;
}

static void verify(const int *data, int from, int slot, int n, int turn)
{
    int wrong = 0;
    for (int k = 0; k < n; k++)
        wrong += data[k] != value(from, slot, k, turn);
    CHECK(wrong == 0, "message %d of rank %d: %d of %d wrong", slot, from, wrong, n);
}

static void try_exchange(MPI_Comm comm, int turn, MPI_Datatype gapped)
{
    static struct plan p;
    int displs[MOST], sources[64 * MOST], slots[64 * MOST], counts[64 * MOST], came = -1, all = -1;
    make_plan(&p, turn % 4 == 0 ? 0 : turn % 4 == 1 ? 2 : 12, false);
    const bool gaps = turn % 3 == 2;
    int *send = fill(&p, turn, gaps ? 2 : 1, displs);
    come_late(turn);
    int rc = CRESTA_Exchange(send, p.n[rank], displs, gaps ? gapped : MPI_INT, p.count[rank],
                             p.to[rank], &came, &all, comm);
    const int n = expected(&p, sources, slots, counts);
    int total = 0;
    for (int i = 0; i < n; i++)
        total += counts[i];
    CHECK(rc == MPI_SUCCESS && came == n && all == total, "rc %d, %d messages, not %d; %d not %d",
          rc, came, n, all, total);
    int *from = malloc(4 * ((size_t)n + 1)), *lengths = malloc(4 * ((size_t)n + 1)),
        *places = malloc(4 * ((size_t)n + 1)), *data = malloc(4 * ((size_t)total + 1));
    if (came == n && all == total && turn % 5 != 4) { /* otherwise it is dropped */
        rc = CRESTA_Exchange_take(data, from, lengths, places, MPI_INT, comm);
        CHECK(rc == MPI_SUCCESS, "take: %d", rc);
        for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
            CHECK(from[i] == sources[i] && lengths[i] == counts[i], "message %d is of %d, %d long",
                  i, from[i], lengths[i]);
            verify(data + places[i], sources[i], slots[i], counts[i], turn);
        }
        CHECK(CRESTA_Exchange_take(data, from, lengths, places, MPI_INT, comm) == MPI_ERR_OTHER,
              "it was taken twice");
    }
    free(from), free(lengths), free(places), free(data), free(send);
}

/* A multisend and what must come. */
struct listed {
    struct plan p;
    CRESTA_Multisend m;
    bool cast;
    int *send, *recv, displs[MOST], sources[64 * MOST], slots[64 * MOST], counts[64 * MOST];
    int places[64 * MOST], flags[64 * MOST], n, told, turn;
};

static void arrived(void *context, int i, int source, void *data)
{
    struct listed *l = context;
    CHECK(i >= 0 && i < l->n && source == l->sources[i] && l->flags[i] == 1, "place %d", i);
    CHECK(data == l->recv + l->places[i], "where message %d lies", i);
    verify(data, source, l->cast ? 0 : l->slots[i], l->counts[i], l->turn);
    l->told++;
}

static void make_listed(struct listed *l, MPI_Comm comm, bool cast)
{
    int total = 0;
    memset(l, 0, sizeof *l);
    l->cast = cast;
    make_plan(&l->p, 6, cast);
    l->n = expected(&l->p, l->sources, l->slots, l->counts);
    for (int i = 0; i < l->n; i++) {
        l->places[i] = total;
        total += l->counts[i];
    }
    l->recv = malloc(4 * ((size_t)total + 1));
    l->send = fill(&l->p, 0, 1, l->displs);
    const struct plan *p = &l->p;
    const int rc = cast ? CRESTA_Multicast_init(l->send, p->count[rank] > 0 ? p->n[rank][0] : 0,
                                                p->count[rank], p->to[rank], l->recv, l->counts,
                                                l->places, l->n, l->sources, MPI_INT, comm, &l->m)
                        : CRESTA_Manytomany_init(l->send, p->n[rank], l->displs, p->count[rank],
                                                 p->to[rank], l->recv, l->counts, l->places, l->n,
                                                 l->sources, MPI_INT, comm, &l->m);
    CHECK(rc == MPI_SUCCESS && l->m != CRESTA_MULTISEND_NULL, "init: %d", rc);
    CHECK(CRESTA_Multisend_notify(l->m, arrived, l, l->flags) == MPI_SUCCESS, "notify");
}

static void start(struct listed *l, int turn)
{
    l->turn = turn;
    l->told = 0;
    for (int i = 0; i < l->p.count[rank]; i++)
        for (int k = 0; k < l->p.n[rank][i]; k++)
            l->send[l->displs[i] + k] = value(rank, l->cast ? 0 : i, k, turn);
    CHECK(CRESTA_Multisend_start(l->m) == MPI_SUCCESS, "start");
    CHECK(CRESTA_Multisend_start(l->m) == MPI_ERR_REQUEST, "it was started twice");
}

static void end(struct listed *l, bool tests)
{
    int over = 0, rc = MPI_SUCCESS;
    while (tests && !over && rc == MPI_SUCCESS)
        rc = CRESTA_Multisend_test(l->m, &over);
    if (!tests)
        rc = CRESTA_Multisend_wait(l->m);
    CHECK(rc == MPI_SUCCESS && l->told == l->n, "rc %d, %d of %d told", rc, l->told, l->n);
    CHECK(CRESTA_Multisend_wait(l->m) == MPI_SUCCESS, "a wait after the end");
    for (int i = 0; i < l->n; i++)
        CHECK(l->flags[i] == 1, "flag %d", i);
}

/* Several at once, each rank starts them in an order of its own. */
static void try_multisends(MPI_Comm comm)
{
    enum { LISTS = 5 };
    static struct listed lists[LISTS];
    for (int i = 0; i < LISTS; i++)
        make_listed(&lists[i], comm, i % 2);
    for (int turn = 1; turn < 8; turn++) {
        snprintf(testing_label, sizeof testing_label, "multisends, turn %d", turn);
        come_late(turn);
        for (int i = 0; i < LISTS; i++)
            start(&lists[(i + rank) % LISTS], turn);
        for (int i = 0; i < LISTS; i++)
            end(&lists[(i + 2 * turn) % LISTS], (i + turn) % 2);
    }
    for (int i = 0; i < LISTS; i++) {
        CHECK(CRESTA_Multisend_free(&lists[i].m) == MPI_SUCCESS &&
                  lists[i].m == CRESTA_MULTISEND_NULL,
              "free");
        free(lists[i].send);
        free(lists[i].recv);
    }
}

/* More lists than there are tags, a few of which stay. */
static void try_many_lists(MPI_Comm comm)
{
    CRESTA_Multisend kept[3], one;
    int in[3] = {-1, -1, -1}, out, next = (rank + 1) % size, from = (rank + size - 1) % size;
    const int n = 1, at = 0;
    snprintf(testing_label, sizeof testing_label, "more lists than tags");
    for (int i = 0; i < 33000; i++) {
        CRESTA_Multisend *m = i % 11000 == 5 ? &kept[i / 11000] : &one;
        const int rc = CRESTA_Multicast_init(&out, 1, 1, &next, m != &one ? &in[i / 11000] : NULL,
                                             &n, &at, m != &one, &from, MPI_INT, comm, m);
        if (!CHECK(rc == MPI_SUCCESS, "list %d: %d", i, rc))
            return;
        if (m == &one)
            CRESTA_Multisend_free(&one);
    }
    for (int k = 2; k >= 0; k--) {
        out = 10 * rank + k;
        CRESTA_Multisend_start(kept[k]);
        CRESTA_Multisend_wait(kept[k]);
        CHECK(in[k] == 10 * from + k, "%d of list %d", in[k], k);
        CRESTA_Multisend_free(&kept[k]);
    }
}

static void try_sneighbor(int turn)
{
    struct graph g;
    MPI_Request requests[2 * 64 * 8];
    graph_by_chance(&g, size, 300 + (uint64_t)turn, false);
    MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
    const struct graph_ends *in = &g.in[rank], *out = &g.out[rank];
    const int n = 1 + turn % 3, all = in->count + out->count;
    int *send = malloc(4 * ((size_t)(n * out->count) + 1)),
        *recv = malloc(4 * ((size_t)(n * in->count) + 1));
    snprintf(testing_label, sizeof testing_label, "a request for each message, graph %d", turn);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < n * out->count; i++)
            send[i] = value(rank, i / n, i % n, again);
        for (int i = 0; i < n * in->count; i++)
            recv[i] = -5;
        come_late(turn);
        CHECK(CRESTA_Sneighbor_alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm, requests) ==
                  MPI_SUCCESS,
              "begin");
        for (int left = all, i; left > 0; left--) {
            MPI_Waitany(all, requests, &i, MPI_STATUS_IGNORE);
            if (i < in->count && in->peer[i] != GRAPH_NOBODY)
                verify(recv + n * i, in->peer[i], in->slot[i], n, again);
            else if (i < in->count)
                CHECK(recv[n * i] == -5, "a block of nobody");
        }
    }
    free(send);
    free(recv);
    MPI_Comm_free(&comm);
    graph_free(&g);
}

/* The last rank has wrong arguments: it says so, and the others go on. */
static void try_wrong(MPI_Comm comm)
{
    const bool bad = rank == size - 1;
    int came, all, x = 0, n = 1, at = 0, to = bad ? size : MPI_PROC_NULL;
    CRESTA_Multisend m;
    MPI_Request requests[1];
    snprintf(testing_label, sizeof testing_label, "wrong arguments");
    int rc = CRESTA_Exchange(&x, &n, &at, MPI_INT, 1, &to, &came, &all, comm);
    CHECK(rc == (bad ? MPI_ERR_RANK : MPI_SUCCESS) && came == 0, "exchange: %d", rc);
    rc = CRESTA_Multicast_init(&x, 1, 1, &to, NULL, NULL, NULL, 0, NULL, MPI_INT, comm, &m);
    CHECK(rc == (bad ? MPI_ERR_RANK : MPI_SUCCESS) && (m == CRESTA_MULTISEND_NULL) == bad,
          "multicast: %d", rc);
    if (!bad)
        CRESTA_Multisend_free(&m);
    CHECK(CRESTA_Sneighbor_alltoall(&x, 1, MPI_INT, &x, 1, MPI_INT, comm, requests) ==
              MPI_ERR_TOPOLOGY,
          "no topology");
    try_multisends(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Datatype gapped;
    MPI_Request theirs;
    int buffer = -1, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &theirs);
    for (int turn = 0; turn < 300; turn++) {
        snprintf(testing_label, sizeof testing_label, "exchange %d", turn);
        try_exchange(comm, turn, gapped);
    }
    try_multisends(comm);
    try_many_lists(comm);
    for (int turn = 0; turn < 12; turn++)
        try_sneighbor(turn);
    try_wrong(comm);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, comm);
    MPI_Wait(&theirs, MPI_STATUS_IGNORE);
    CHECK(buffer == (rank + size - 1) % size, "the program's message is %d", buffer);
    MPI_Comm_free(&comm);
    MPI_Type_free(&gapped);
    MPI_Finalize();
    return testing_end("multisend");
}
