/* SPDX-License-Identifier: BSD-3-Clause */
/* near_reduce.c - neighbourhood reductions beyond one call: in a program that asks for nothing,
 * begun (two at once, an operation of the program, waits of the MPI), persistent (two under way,
 * which end in another order), and what is refused.  `crestacoll check` has the results of all
 * kinds; here an operation keeps the order of its operands.
 *
 *     near_reduce IMPL,...    the word `none`: without rules */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

#include <cresta_sp_coll.h>

#include "testing/testing.h"
#include "topology.h"

enum { N = 5, MOST = 256 };

static int rank, size;
static MPI_Op compose;

/* x -> a x + b, with a and b in the halves of a word: associative, not commutative. */
static unsigned composed(unsigned left, unsigned right)
{
    const unsigned a = (left & 0xffff) * (right & 0xffff) & 0xffff;
    return a | ((left & 0xffff) * (right >> 16) + (left >> 16)) << 16;
}

static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((unsigned *)inout)[i] = composed(((unsigned *)in)[i], ((unsigned *)inout)[i]);
}

static unsigned value(int from, int slot, int round, int k)
{
    const unsigned x = (unsigned)(from * 131 + slot * 31 + round * 7 + k + 1) * 2654435761u;
    return x ^ x >> 13;
}

/* A rank's data for a call, and what must come out; a block for each destination if `each`. */
struct data {
    unsigned send[MOST * N], recv[N], expected[N];
};

static void fill(struct data *d, const struct graph *g, bool each, int round)
{
    const struct graph_ends *in = &g->in[rank];
    for (int i = 0; i < MOST * N; i++)
        d->send[i] = value(rank, each ? i / N : 0, round, i % N);
    for (int k = 0; k < N; k++) {
        bool any = false;
        d->recv[k] = d->expected[k] = 77;
        for (int i = 0; i < in->count; i++) {
            if (in->peer[i] == GRAPH_NOBODY)
                continue;
            const unsigned next = value(in->peer[i], each ? in->slot[i] : 0, round, k);
            d->expected[k] = any ? composed(d->expected[k], next) : next;
            any = true;
        }
    }
}

static void verify(const struct data *d, const char *what)
{
    for (int k = 0; k < N; k++)
        CHECK(d->recv[k] == d->expected[k], "%s: element %d is %#x instead of %#x", what, k,
              d->recv[k], d->expected[k]);
}

static void blocking(MPI_Comm comm, const struct graph *g)
{
    static struct data d;
    for (int round = 0; round < 3; round++) {
        fill(&d, g, false, round);
        CHECK(CRESTA_Neighbor_reduce(d.send, d.recv, N, MPI_UNSIGNED, compose, comm) == MPI_SUCCESS,
              "reduce");
        verify(&d, "reduce");
        fill(&d, g, false, round);
        const bool receives = memcmp(d.recv, d.expected, sizeof d.recv) != 0;
        memcpy(d.recv, d.send, sizeof d.recv);
        if (!receives)
            memcpy(d.expected, d.send, sizeof d.expected);
        CRESTA_Neighbor_reduce(MPI_IN_PLACE, d.recv, N, MPI_UNSIGNED, compose, comm);
        verify(&d, "in place");
        fill(&d, g, true, round);
        CRESTA_Neighbor_alltoall_reduce(d.send, d.recv, N, MPI_UNSIGNED, compose, comm);
        verify(&d, "alltoall_reduce");
    }
}

static void begun(MPI_Comm comm, const struct graph *g)
{
    static struct data d[3];
    MPI_Request requests[3];
    for (int ends = 0; ends < 3; ends++) {
        for (int i = 0; i < 3; i++)
            fill(&d[i], g, i == 1, i);
        CRESTA_Neighbor_reduce_begin(d[0].send, d[0].recv, N, MPI_UNSIGNED, compose, comm,
                                     &requests[0]);
        CRESTA_Neighbor_alltoall_reduce_begin(d[1].send, d[1].recv, N, MPI_UNSIGNED, compose, comm,
                                              &requests[1]);
        CRESTA_Neighbor_reduce(d[2].send, d[2].recv, N, MPI_UNSIGNED, compose, comm);
        if (ends == 0)
            CRESTA_Coll_end(2, requests);
        else if (ends == 1)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        else
            for (int i = 1; i >= 0; i--)
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < 3; i++)
            verify(&d[i], "begun");
    }
}

/* Ranks start and end two in different orders. */
static void persistent(MPI_Comm comm, const struct graph *g, MPI_Op op)
{
    static struct data d[2];
    CRESTA_Recording made[2];
    CHECK(CRESTA_Neighbor_reduce_init(d[0].send, d[0].recv, N, MPI_UNSIGNED, op, comm, &made[0]) ==
              MPI_SUCCESS,
          "reduce_init");
    CHECK(CRESTA_Neighbor_alltoall_reduce_init(d[1].send, d[1].recv, N, MPI_UNSIGNED, op, comm,
                                               &made[1]) == MPI_SUCCESS,
          "alltoall_reduce_init");
    int merged = 0;
    for (int i = 0; i < 2; i++) {
        int one = 0;
        CRESTA_Recording_info(made[i], NULL, &one, NULL, NULL, NULL);
        merged += one;
    }
    for (int round = 0; round < 3; round++) {
        const int first = merged == 2 ? (rank + round) % 2 : 0; /* else they are blocking calls */
        for (int i = 0; i < 2; i++) {
            fill(&d[i], g, i == 1, round);
            for (int k = 0; k < N && op == MPI_BXOR; k++) {
                const struct graph_ends *in = &g->in[rank];
                unsigned all = 0;
                bool any = false;
                for (int e = 0; e < in->count; e++)
                    if (in->peer[e] != GRAPH_NOBODY) {
                        all ^= value(in->peer[e], i == 1 ? in->slot[e] : 0, round, k);
                        any = true;
                    }
                d[i].expected[k] = any ? all : 77;
            }
        }
        CRESTA_Replay_start(made[first]);
        CRESTA_Replay_start(made[1 - first]);
        CRESTA_Replay_end(made[first]);
        CRESTA_Replay_end(made[1 - first]);
        verify(&d[0], "persistent reduce");
        verify(&d[1], "persistent alltoall_reduce");
    }
    CRESTA_Recording_free(&made[0]);
    CRESTA_Recording_free(&made[1]);
}

static void expect(int rc, int want, const char *what)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    CHECK(class == want, "%s: error class %d instead of %d", what, class, want);
}

static void refused(MPI_Comm comm, const struct graph *g)
{
    MPI_Comm plain;
    MPI_Request request;
    CRESTA_Recording recording = 1;
    int in[N] = {0}, out[N];
    (void)g;
    expect(CRESTA_Neighbor_alltoall_reduce_begin(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, comm,
                                                 &request),
           MPI_ERR_BUFFER, "in place");
    expect(CRESTA_Neighbor_reduce_begin(in, out, -1, MPI_INT, MPI_SUM, comm, &request),
           MPI_ERR_COUNT, "a count");
    expect(CRESTA_Neighbor_reduce_begin(in, out, 1, MPI_INT, MPI_OP_NULL, comm, &request),
           MPI_ERR_OP, "an operation");
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
    expect(CRESTA_Neighbor_reduce(in, out, 1, MPI_INT, MPI_SUM, plain), MPI_ERR_TOPOLOGY,
           "no topology");
    expect(CRESTA_Neighbor_reduce_begin(in, out, 1, MPI_INT, MPI_SUM, plain, &request),
           MPI_ERR_TOPOLOGY, "no topology, begun");
    CHECK(request == MPI_REQUEST_NULL, "a request");
    expect(CRESTA_Neighbor_reduce_init(in, out, 1, MPI_INT, MPI_SUM, plain, &recording),
           MPI_ERR_TOPOLOGY, "no topology, persistent");
    CHECK(recording == CRESTA_RECORDING_NULL, "a recording");
    MPI_Comm_free(&plain);
}

static void run(const char *impl)
{
    char spec[256];
    for (int i = 0; i < 6; i++) {
        struct graph g;
        graph_by_chance(&g, size, 2000 + (uint64_t)i, false);
        snprintf(testing_label, sizeof testing_label, "graph %d", i);
        MPI_Comm comm = topology_make(MPI_COMM_WORLD, &g);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        snprintf(spec, sizeof spec, "neighbor_*=%s", impl);
        if (strcmp(impl, "none") != 0)
            CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
        blocking(comm, &g);
        begun(comm, &g);
        persistent(comm, &g, MPI_BXOR);
        persistent(comm, &g, compose);
        refused(comm, &g);
        blocking(comm, &g);
        MPI_Comm_free(&comm);
        graph_free(&g);
    }
}

int main(int argc, char **argv)
{
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Op_create(compose_all, 0, &compose);
    testing_each(argc > 1 ? argv[1] : "none", run);
    MPI_Op_free(&compose);
    MPI_Finalize();
    return testing_end("near_reduce");
}
