/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_sizes.c - ranks make calls that do not match.  One gives and takes other bytes than all
 * others: some rank gets MPI_ERR_TRUNCATE, no rank writes outside its buffers, and calls that come
 * later end.  Or they make unlike calls, or one with unlike roots: some rank gets an error.
 *
 *     wrong_sizes IMPL,... [IMPL,...]
 *
 * The second list is for calls that begin and end (CRESTA_x_begin).  With CRESTA_NODES
 * the MPI carries what passes between nodes. */
#include <stdbool.h>

#include <cresta_sp_coll.h>

#include "proc_failed.h"
#include "testing/testing.h"

enum { MOST = 2 << 20, RANKS = 4, CANARY = 64, MARK = 0x5a };
enum {
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    CALLS, /* and those with neighbours: */
    NEAR_ALLGATHER = CALLS,
    NEAR_ALLGATHERV,
    NEAR_ALLTOALL,
    NEAR_ALLTOALLV,
    NEAR_ALLTOALLW,
    ALL_CALLS, /* and those that only meet unlike ones: */
    BARRIER = ALL_CALLS,
    BCAST_FROM_1
};

static const char *const names[ALL_CALLS] = {"bcast",
                                             "gather",
                                             "gatherv",
                                             "scatter",
                                             "scatterv",
                                             "allgather",
                                             "allgatherv",
                                             "alltoall",
                                             "alltoallv",
                                             "alltoallw",
                                             "reduce",
                                             "allreduce",
                                             "reduce_scatter",
                                             "reduce_scatter_block",
                                             "scan",
                                             "exscan",
                                             "neighbor_allgather",
                                             "neighbor_allgatherv",
                                             "neighbor_alltoall",
                                             "neighbor_alltoallv",
                                             "neighbor_alltoallw"};
static _Alignas(double) char in[MOST * RANKS], out[MOST * RANKS + CANARY];
static int rank, size, odd_rank; /* the last, or another: its call does not match */
static bool begins;              /* the calls begin, and end */

static int blocks_out(int call)
{
    const bool root = rank == 0;
    return call == GATHER || call == GATHERV        ? (root ? size : 0)
           : call >= ALLGATHER && call <= ALLTOALLW ? size
           : call >= NEAR_ALLGATHER                 ? 2
           : call == REDUCE                         ? root
                                                    : 1;
}

static int end_begun(int rc, MPI_Request *request)
{
    return rc == MPI_SUCCESS ? CRESTA_Coll_end(1, request) : rc;
}

#define MAKE(Name, ...)                                                                            \
    (begins ? end_begun(CRESTA_##Name##_begin(__VA_ARGS__, &request), &request)                    \
            : CRESTA_##Name(__VA_ARGS__))

/* Blocks of n bytes, of which `gives` are given where they may be others than those taken. */
static int make(int call, int n, int gives, MPI_Comm comm)
{
    int counts[RANKS], given[RANKS], at[RANKS];
    MPI_Aint far[RANKS];
    MPI_Datatype types[RANKS];
    const MPI_Datatype byte = MPI_BYTE;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < size; i++) {
        counts[i] = n, given[i] = gives, far[i] = at[i] = i * n, types[i] = byte;
    }
    switch (call) {
    case BARRIER:
        return begins ? end_begun(CRESTA_Barrier_begin(comm, &request), &request)
                      : CRESTA_Barrier(comm);
    case BCAST:
    case BCAST_FROM_1:
        return MAKE(Bcast, out, n, byte, call == BCAST_FROM_1, comm);
    case GATHER:
        return MAKE(Gather, in, gives, byte, out, n, byte, 0, comm);
    case GATHERV:
        return MAKE(Gatherv, in, gives, byte, out, counts, at, byte, 0, comm);
    case SCATTER:
        return MAKE(Scatter, in, gives, byte, out, n, byte, 0, comm);
    case SCATTERV:
        return MAKE(Scatterv, in, given, at, byte, out, n, byte, 0, comm);
    case ALLGATHER:
        return MAKE(Allgather, in, gives, byte, out, n, byte, comm);
    case ALLGATHERV:
        return MAKE(Allgatherv, in, gives, byte, out, counts, at, byte, comm);
    case ALLTOALL:
        return MAKE(Alltoall, in, gives, byte, out, n, byte, comm);
    case ALLTOALLV:
        return MAKE(Alltoallv, in, given, at, byte, out, counts, at, byte, comm);
    case ALLTOALLW:
        return MAKE(Alltoallw, in, given, at, types, out, counts, at, types, comm);
    case REDUCE:
        return MAKE(Reduce, in, out, n / 4, MPI_INT, MPI_SUM, 0, comm);
    case ALLREDUCE:
        return MAKE(Allreduce, in, out, n / 4, MPI_INT, MPI_SUM, comm);
    case REDUCE_SCATTER:
        for (int i = 0; i < size; i++)
            counts[i] = n / 4;
        return MAKE(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    case REDUCE_SCATTER_BLOCK:
        return MAKE(Reduce_scatter_block, in, out, n / 4, MPI_INT, MPI_SUM, comm);
    case SCAN:
        return MAKE(Scan, in, out, n / 4, MPI_INT, MPI_SUM, comm);
    case NEAR_ALLGATHER:
        return MAKE(Neighbor_allgather, in, gives, byte, out, n, byte, comm);
    case NEAR_ALLGATHERV:
        return MAKE(Neighbor_allgatherv, in, gives, byte, out, counts, at, byte, comm);
    case NEAR_ALLTOALL:
        return MAKE(Neighbor_alltoall, in, gives, byte, out, n, byte, comm);
    case NEAR_ALLTOALLV:
        return MAKE(Neighbor_alltoallv, in, given, at, byte, out, counts, at, byte, comm);
    case NEAR_ALLTOALLW:
        return MAKE(Neighbor_alltoallw, in, given, far, types, out, counts, far, types, comm);
    default:
        return MAKE(Exscan, in, out, n / 4, MPI_INT, MPI_SUM, comm);
    }
}

static bool any(bool mine)
{
    int some = mine;
    PMPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return some;
}

/* A communicator for a call. */
static MPI_Comm new_comm(const char *impl, int call)
{
    const int whole = 1;
    MPI_Comm comm;
    char spec[64];
    if (call >= NEAR_ALLGATHER)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &whole, 0, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    snprintf(spec, sizeof spec, "%s=%s", call >= NEAR_ALLGATHER ? "neighbor_*" : "*", impl);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
    return comm;
}

/* `odd`: what the odd rank gives, and takes unless only `own` differs. */
static void try(const char *impl, int call, int n, int odd, bool own)
{
    const bool is_odd = rank == odd_rank;
    const int mine = is_odd && !own ? odd : n, gives = is_odd ? odd : n;
    const size_t end = (size_t)mine * (size_t)blocks_out(call);
    int class = MPI_SUCCESS, harm = 0;
    snprintf(testing_label, sizeof testing_label, "%s%s of %d bytes, %d on rank %d%s",
             begins ? "begun " : "", names[call], n, odd, odd_rank,
             own ? ", where it gives them only" : "");
    MPI_Comm comm = new_comm(impl, call);
    memset(out + end, MARK, CANARY);
    const int rc = make(call, mine, gives, comm);
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    for (int i = 0; i < CANARY; i++)
        harm += out[end + (size_t)i] != MARK;
    CHECK(harm == 0, "%d bytes behind the buffer are written", harm);
    CHECK(any(class == MPI_ERR_TRUNCATE), "no rank has MPI_ERR_TRUNCATE, but class %d here", class);
    CHECK(expected == MPI_ERR_OTHER || class != expected, "a process has failed, this says");
    make(call, n, n, comm); /* ends, on every rank, if only with an error */
    MPI_Comm_free(&comm);
}

static void make_other(int which, bool odd, MPI_Comm comm)
{
    switch (which) {
    case 0:
        make(odd ? ALLGATHER : BARRIER, 8, 8, comm);
        break;
    case 1:
        make(odd ? SCAN : REDUCE, odd ? 512 : 8, 8, comm);
        break;
    case 2:
        make(odd ? BCAST_FROM_1 : BCAST, 8, 8, comm);
        break;
    default:
        make(odd ? ALLREDUCE : ALLGATHER, 8, 8, comm);
    }
}

/* The odd rank makes unlike calls, which each rank makes in the other order, and then some that
 * are alike. */
static void try_kinds(const char *impl, int which)
{
    enum { AFTER = 3 };
    const bool odd = rank == odd_rank;
    int rc = MPI_SUCCESS;
    snprintf(testing_label, sizeof testing_label, "unlike %scalls, number %d",
             begins ? "begun " : "", which);
    MPI_Comm comm = new_comm(impl, BCAST);
    make_other(which, odd, comm);
    make_other(which, !odd, comm);
    for (int i = 0; i < AFTER && rc == MPI_SUCCESS; i++)
        rc = make(ALLREDUCE, 8, 8, comm);
    CHECK(any(rc != MPI_SUCCESS), "no rank has an error");
    MPI_Comm_free(&comm);
}

static void try_both(const char *impl, int call, int n)
{
    try(impl, call, n, 2 * n, false);
    try(impl, call, n, n / 2, false);
}

/* Some calls over streams, whose communicators keep much: windows are few, and those of an unlike
 * call are not used again.  Begun calls over messages with unlike roots hang: the rank that waits
 * has only a message of a later begin from its root, which a rank that is ahead may send. */
static void run_some(const char *impl)
{
    static const int some[] = {BCAST, GATHER, ALLTOALLV, ALLREDUCE};
    static const int sizes[] = {8, 40 << 10};
    const bool epochs = strstr(impl, "sync=") != NULL;
    const bool calls = epochs || strstr(impl, "access=") != NULL;
    const bool messages = impl[0] == 'p'; /* see run_all */
    try(impl, epochs ? BCAST : NEAR_ALLGATHER, 8, 0, false);
    try(impl, epochs ? SCAN : NEAR_ALLTOALL, 0, 8, false);
    for (int i = calls ? LEN(some) - 1 : 0; i < LEN(some); i++)
        for (int k = 0; k < LEN(sizes); k++)
            try_both(impl, some[i], sizes[k]);
    for (int which = 0; which < 4; which++)
        if (!messages || which % 3 == 0)
            try_kinds(impl, which);
}

/* Rank 1 gives its data, under MPICH through a slot, while rank 0 waits for it in a call of the
 * MPI.  As in the MPIs, this ends. */
static void try_crossed(const char *impl)
{
    const int calls[] = {BCAST, REDUCE}, bytes[] = {64 << 10, 8};
    MPI_Comm comm = new_comm(impl, BCAST);
    snprintf(testing_label, sizeof testing_label, "bcast and reduce, on rank 1 reduce and bcast");
    for (int i = 0; i < 2; i++) {
        const int which = i ^ rank;
        CHECK(make(calls[which], bytes[which], bytes[which], comm) == MPI_SUCCESS, "call %d", i);
    }
    MPI_Comm_free(&comm);
}

/* A rank that takes less than the root gives in one broadcast takes part in the next, which the
 * rules give to the MPI, and where the root may be by then. */
static void try_next(const char *impl)
{
    MPI_Comm comm = new_comm(impl, BCAST);
    snprintf(testing_label, sizeof testing_label, "two bcasts, the first of unlike sizes");
    const int n = rank == odd_rank ? 32 : 64;
    int rc[3];
    make(BCAST, 64, 64, comm);
    rc[0] = make(BCAST, n, n, comm);
    rc[1] = make(BCAST, 64 << 10, 64 << 10, comm);
    rc[2] = make(ALLTOALL, 64 << 10, 64 << 10, comm);
    CHECK(any(rc[0] != MPI_SUCCESS), "no rank has an error");
    CHECK(rc[1] == MPI_SUCCESS && rc[2] == MPI_SUCCESS, "later calls have errors %d and %d", rc[1],
          rc[2]);
    MPI_Comm_free(&comm);
}

/* What the rules of `auto` give to shared memory under every MPI. */
static void run_auto(const char *impl)
{
    (size == 2 ? try_crossed : try_next)(impl);
    static const int some[] = {ALLGATHER, ALLTOALL, ALLREDUCE, REDUCE_SCATTER,
                               REDUCE_SCATTER_BLOCK};
    for (int i = 0; i < LEN(some); i++)
        try_both(impl, some[i], 8);
#ifdef OPEN_MPI /* whose small broadcasts the rules leave to the MPI */
    try(impl, BCAST, 64, 8 << 10, false);
#else /* and MPICH's of 2 KiB */
    try(impl, BCAST, 2 << 10, 8, false);
    try(impl, REDUCE_SCATTER_BLOCK, 8, 64 << 10, false);
    try(impl, ALLTOALL, 8, 64 << 10, false);
    try(impl, ALLTOALL, 64 << 10, 8, false);
#endif
    try_kinds(impl, 0);
    try_kinds(impl, 3);
}

/* What passes between the last two ranks, which are on one node, and between nodes: rank 0 is alone
 * on its own. */
static void run_nodes(const char *impl)
{
    static const int some[] = {ALLGATHER, ALLTOALLV, ALLREDUCE, SCAN};
    for (int i = 0; i < LEN(some); i++)
        try_both(impl, some[i], 8);
    for (int which = 0; which < 4; which++)
        try_kinds(impl, which);
    odd_rank = 0;
    for (int i = 0; i < LEN(some); i++)
        try_both(impl, some[i], i % 2 == 0 ? 8 : 64 << 10);
    for (int which = 0; which < 4; which += 3)
        try_kinds(impl, which);
    odd_rank = size - 1;
}

/* By algorithms that have all of these calls.  With other sizes they may send messages that are as
 * long, but more of them. */
static void run_named(const char *impl, const char *algo)
{
    static const struct {
        const char *algo;
        int calls[4], count;
    } of[] = {{"linear", {BCAST, GATHER, SCATTERV, ALLTOALLV}, 4},
              {"chunked", {ALLTOALLV, ALLTOALLW}, 2},
              {"ring", {ALLGATHER, ALLREDUCE, REDUCE_SCATTER_BLOCK}, 3},
              {"chain", {BCAST, REDUCE}, 2},
              {"binomial", {GATHER, GATHERV, SCATTER, SCATTERV}, 4}};
    for (int i = 0; i < LEN(of); i++)
        for (int k = 0; k < of[i].count && strcmp(of[i].algo, algo) == 0; k++) {
            try_both(impl, of[i].calls[k], 8);
            try_both(impl, of[i].calls[k], 64 << 10);
        }
}

/* Messages say nothing where none is sent: `p2p` hangs in the unlike calls number 1, as MPIs do,
 * and in a reduction that has another algorithm for the odd size. */
static void run_all(const char *impl)
{
    static const int sizes[] = {8, 2 << 10, 40 << 10, 1 << 20};
    for (int which = 0; which < 4; which++)
        if (which != 1 || impl[0] != 'p')
            try_kinds(impl, which);
    for (int call = NEAR_ALLGATHER; call < ALL_CALLS && strchr("ps", impl[0]); call++) {
        try(impl, call, 8, 0, false);
        try(impl, call, 0, 8, false);
        try_both(impl, call, 64 << 10);
    }
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < LEN(sizes); i++) {
            const int n = sizes[i];
            if (impl[0] != 'p' || call != REDUCE || n != 2 << 10)
                try_both(impl, call, n);
            if (call == GATHER || (call >= ALLGATHER && call <= ALLTOALLW)) {
                try(impl, call, n, 2 * n, true);
                try(impl, call, n, n / 2, true);
            }
        }
}

/* In memory that the ranks share: whether rank 1 is away, how many others have ended, and the
 * process of rank 1. */
static volatile int *away;

static void stay_away(int signal)
{
    (void)signal;
    away[0] = 1;
    while (away[1] < size - 1)
        usleep(1000);
}

/* Rank 1 is away while its message is under way, and the others give theirs up: what comes later
 * must not go to memory that is free by now. */
static void try_given_up(const char *impl)
{
    const int n = MOST * RANKS / (int)sizeof(double); /* so large that no scratch is kept */
    int *shared;
    MPI_Win win;
    MPI_Comm comm = new_comm(impl, BCAST);
    snprintf(testing_label, sizeof testing_label, "a message of rank 1 is given up");
    PMPI_Win_allocate_shared(rank == 0 ? 3 * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL,
                             MPI_COMM_WORLD, &shared, &win);
    MPI_Aint bytes;
    int unit;
    PMPI_Win_shared_query(win, 0, &bytes, &unit, &shared);
    away = shared;
    if (rank == 0)
        away[0] = away[1] = away[2] = 0;
    make(REDUCE, 64, 64, comm); /* the first call waits for rank 1 in other ways, too */
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        signal(SIGUSR1, stay_away);
        away[2] = (int)getpid();
    }
    while (rank != 1 && away[2] == 0)
        usleep(1000);
    if (rank == 0) { /* by when it has begun: if not, nothing is under way, and all still holds */
        usleep(100000);
        kill(away[2], SIGUSR1);
    }
    while (rank != 1 && away[0] == 0)
        usleep(1000);
    const int rc = CRESTA_Reduce(in, out, rank == odd_rank ? n / 2 : n, MPI_DOUBLE, MPI_SUM, 0,
                                 comm);
    if (rank != 1)
        __atomic_add_fetch(&away[1], 1, __ATOMIC_SEQ_CST);
    CHECK(any(rc != MPI_SUCCESS), "no rank has an error");
    PMPI_Win_free(&win);
    MPI_Comm_free(&comm);
}

static void run(const char *impl)
{
    const char *algo = strchr(impl, ':');
    if (strcmp(impl, "p2p:exact") == 0 && size > 2)
        try_given_up(impl);
    else if (algo != NULL)
        run_named(impl, algo + 1);
    else if (getenv("CRESTA_NODES") != NULL)
        run_nodes(impl);
    else if (strcmp(impl, "auto") == 0)
        run_auto(impl);
    else if (begins || strncmp(impl, "os", 2) == 0 || strcmp(impl, "caf") == 0)
        run_some(impl);
    else
        run_all(impl);
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    odd_rank = size - 1;
    testing_each(argc > 1 ? argv[1] : "shm", run);
    begins = argc > 2;
    if (begins) { /* whose errors it has */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        testing_each(argv[2], run);
    }
    MPI_Finalize();
    return testing_end("wrong_sizes");
}
