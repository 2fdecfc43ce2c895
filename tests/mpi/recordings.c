/* SPDX-License-Identifier: BSD-3-Clause */
/* recordings.c - CRESTA_Record_begin to CRESTA_Recording_free: sequences of calls at random,
 * recorded and replayed with other data, against the MPI's own calls; several recordings at once,
 * in other orders on other ranks; and what must be refused.
 *
 *     recordings IMPL,... [SEQUENCES [SEED]]
 */
#include <cresta_sp_coll.h>
#include <stdbool.h>
#include <stdint.h>

#include "choose.h"

enum { CALLS = 6, REPLAYS = 3, AT_ONCE = 3, ELEMENTS = 6000, RANKS = 16, KINDS = 17 };

typedef struct step {
    int kind, root, n, stride;
    bool in_place, gaps;
    size_t in, out; /* elements from the start of the memory */
    int counts[RANKS], displs[RANKS], back[RANKS], back_at[RANKS];
} step;

typedef struct sequence {
    step steps[CALLS];
    int count;
    unsigned *memory, *expected;
    MPI_Comm comm;
    CRESTA_Recording recording;
} sequence;

static int rank, size;
static uint64_t state; /* the same on all ranks */
static int sequences = 12;
static unsigned long seed = 1;

static uint64_t next(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int below(int n)
{
    return (int)(next() % (uint64_t)n);
}

/* Elements that rank `from` gives to rank `to`. */
static int between(const step *s, int from, int to)
{
    return (from * 5 + to * 3 + s->n) % (s->n + 1);
}

/* What it gives and takes lies apart, wherever that is; calls overlap at random. */
static void place(step *s)
{
    const size_t room = ELEMENTS / 2 - (size_t)(2 * size * (s->n + 1));
    const size_t low = next() % room, high = ELEMENTS / 2 + next() % room;
    s->in = s->in_place || below(2) ? low : high;
    s->out = s->in == low ? high : low;
}

static step some_step(int most)
{
    static const int sizes[] = {0, 1, 4, 30};
    step s = {.kind = below(KINDS), .root = below(size), .n = sizes[below(4)]};
    s.n = s.n > most ? most : s.n;
    s.in_place = below(4) == 0;
    s.gaps = below(4) == 0;
    int sent = 0, received = 0;
    for (int i = 0; i < size; i++) {
        s.counts[i] = between(&s, rank, i);
        s.displs[i] = sent;
        sent += s.counts[i] + i % 2;
        s.back[i] = between(&s, i, rank);
        s.back_at[i] = received;
        received += s.back[i];
    }
    place(&s);
    return s;
}

/* Counts of gatherv and allgatherv: what each rank gives, wherever it goes. */
static int given(const step *s, int from)
{
    return between(s, from, from);
}

static void fill_lists(const step *s, int counts[RANKS], int displs[RANKS])
{
    int at = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = given(s, i);
        displs[i] = at;
        at += counts[i] + 1;
    }
}

static MPI_Datatype type_of(const step *s)
{
    MPI_Datatype gaps = MPI_UNSIGNED, made;
    if (!s->gaps)
        return gaps;
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(unsigned), &made);
    MPI_Type_commit(&made);
    return made;
}

/* NAME is CRESTA or PMPI: the same calls of both. */
#define MAKE(NAME)                                                                                 \
    static int NAME##_movement(const step *s, unsigned *in, unsigned *out, MPI_Datatype type,      \
                               MPI_Comm comm)                                                      \
    {                                                                                              \
        int counts[RANKS], displs[RANKS];                                                          \
        const bool roots = rank == s->root;                                                        \
        fill_lists(s, counts, displs);                                                             \
        switch (s->kind) {                                                                         \
        case 0:                                                                                    \
            return NAME##_Bcast(out, s->n, type, s->root, comm);                                   \
        case 1:                                                                                    \
            return NAME##_Scatter(in, s->n, type, s->in_place && roots ? MPI_IN_PLACE : out, s->n, \
                                  MPI_UNSIGNED, s->root, comm);                                    \
        case 2:                                                                                    \
            return NAME##_Gather(s->in_place && roots ? MPI_IN_PLACE : in, s->n, MPI_UNSIGNED,     \
                                 out, s->n, type, s->root, comm);                                  \
        case 3:                                                                                    \
            return NAME##_Allgather(s->in_place ? MPI_IN_PLACE : in, s->n, type, out, s->n,        \
                                    MPI_UNSIGNED, comm);                                           \
        case 4:                                                                                    \
            return NAME##_Alltoall(s->in_place ? MPI_IN_PLACE : in, s->n, MPI_UNSIGNED, out, s->n, \
                                   type, comm);                                                    \
        case 5:                                                                                    \
            return NAME##_Alltoallv(in, s->counts, s->displs, type, out, s->back, s->back_at,      \
                                    MPI_UNSIGNED, comm);                                           \
        case 6:                                                                                    \
            return NAME##_Allgatherv(in, given(s, rank), type, out, counts, displs, MPI_UNSIGNED,  \
                                     comm);                                                        \
        case 7:                                                                                    \
            return NAME##_Gatherv(in, given(s, rank), MPI_UNSIGNED, out, counts, displs, type,     \
                                  s->root, comm);                                                  \
        case 8:                                                                                    \
            return NAME##_Scatterv(in, counts, displs, type, out, given(s, rank), MPI_UNSIGNED,    \
                                   s->root, comm);                                                 \
        default:                                                                                   \
            return NAME##_Barrier(comm);                                                           \
        }                                                                                          \
    }                                                                                              \
    static int NAME##_call(const step *s, unsigned *memory, MPI_Comm comm)                         \
    {                                                                                              \
        unsigned *in = memory + s->in, *out = memory + s->out;                                     \
        const void *from = s->in_place ? MPI_IN_PLACE : in;                                        \
        const bool roots = rank == s->root;                                                        \
        switch (s->kind) {                                                                         \
        case 10:                                                                                   \
            return NAME##_Allreduce(from, out, s->n, MPI_UNSIGNED, MPI_SUM, comm);                 \
        case 11:                                                                                   \
            return NAME##_Reduce(s->in_place && roots ? MPI_IN_PLACE : in, out, s->n,              \
                                 MPI_UNSIGNED, MPI_BXOR, s->root, comm);                           \
        case 12:                                                                                   \
            return NAME##_Scan(from, out, s->n, MPI_UNSIGNED, MPI_SUM, comm);                      \
        case 13:                                                                                   \
            return NAME##_Exscan(from, out, s->n, MPI_INT, MPI_MAX, comm);                         \
        case 14:                                                                                   \
            return NAME##_Reduce_scatter_block(in, out, s->n, MPI_UNSIGNED, MPI_SUM, comm);        \
        case 15:                                                                                   \
            return NAME##_Allreduce(from, out, s->n, MPI_INT, MPI_MIN, comm);                      \
        default: {                                                                                 \
            MPI_Datatype type = type_of(s);                                                        \
            const int rc = NAME##_movement(s, in, out, type, comm);                                \
            if (s->gaps)                                                                           \
                MPI_Type_free(&type);                                                              \
            return rc;                                                                             \
        }                                                                                          \
        }                                                                                          \
    }
MAKE(CRESTA)
MAKE(PMPI)

/* Other data on each rank, and each time. */
static void fill(sequence *q, unsigned turn)
{
    for (unsigned i = 0; i < ELEMENTS; i++)
        q->memory[i] = q->expected[i] = (turn * 131u + (unsigned)rank * 7919u + i) * 2654435761u;
    for (int i = 0; i < q->count; i++)
        CHECK(PMPI_call(&q->steps[i], q->expected, q->comm) == MPI_SUCCESS, "PMPI");
}

static void compare(const sequence *q, const char *what)
{
    int wrong = 0, first = -1;
    for (int i = 0; i < ELEMENTS; i++)
        if (q->memory[i] != q->expected[i]) {
            first = wrong++ == 0 ? i : first;
        }
    CHECK(wrong == 0, "%s: %d elements are wrong, the first is %d", what, wrong, first);
}

static void say_steps(const sequence *q)
{
    int used = snprintf(testing_label, sizeof testing_label, "seed %lu:", seed);
    for (int i = 0; i < q->count && used < (int)sizeof testing_label; i++)
        used += snprintf(testing_label + used, sizeof testing_label - (size_t)used,
                         " %d(n=%d root=%d%s%s)", q->steps[i].kind, q->steps[i].n, q->steps[i].root,
                         q->steps[i].in_place ? " in place" : "", q->steps[i].gaps ? " gaps" : "");
}

static void open_sequence(sequence *q, MPI_Comm comm)
{
    q->count = 1 + below(CALLS);
    q->comm = comm;
    q->memory = malloc(ELEMENTS * sizeof *q->memory);
    q->expected = malloc(ELEMENTS * sizeof *q->expected);
    for (int i = 0; i < q->count; i++)
        q->steps[i] = some_step(30);
    say_steps(q);
    fill(q, 0);
    CHECK(CRESTA_Record_begin(comm) == MPI_SUCCESS, "begin");
    for (int i = 0; i < q->count; i++)
        CHECK(CRESTA_call(&q->steps[i], q->memory, comm) == MPI_SUCCESS, "call %d", i);
    CHECK(CRESTA_Record_end(&q->recording) == MPI_SUCCESS && q->recording != CRESTA_RECORDING_NULL,
          "end");
    compare(q, "recorded");
}

static void close_sequence(sequence *q)
{
    CHECK(CRESTA_Recording_free(&q->recording) == MPI_SUCCESS &&
              q->recording == CRESTA_RECORDING_NULL,
          "free");
    free(q->memory);
    free(q->expected);
}

static bool is_merged(const sequence *q)
{
    int calls, merged;
    CHECK(CRESTA_Recording_info(q->recording, &calls, &merged, NULL, NULL, NULL) == MPI_SUCCESS,
          "info");
    CHECK(calls == q->count, "%d calls of %d", calls, q->count);
    return merged == calls;
}

/* A call between two replays. */
static void others(MPI_Comm comm)
{
    int one = 1, all = 0;
    CRESTA_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    CHECK(all == size, "%d of %d ranks", all, size);
}

static void replay_each(sequence *q)
{
    for (unsigned turn = 1; turn <= REPLAYS; turn++) {
        fill(q, turn);
        if (turn % 2)
            others(q->comm);
        CHECK(CRESTA_Replay_start(q->recording) == MPI_SUCCESS, "start");
        if (is_merged(q))
            others(q->comm);
        CHECK(CRESTA_Replay_end(q->recording) == MPI_SUCCESS, "end of a replay");
        compare(q, "replayed");
    }
}

/* Several are under way, and every rank has another order. */
static void at_once(MPI_Comm comm)
{
    sequence q[AT_ONCE];
    bool merged = true;
    for (int i = 0; i < AT_ONCE; i++) {
        open_sequence(&q[i], comm);
        merged = is_merged(&q[i]) && merged;
    }
    for (unsigned turn = 1; turn <= REPLAYS; turn++) {
        const int shift = merged ? rank + (int)turn : (int)turn, other = merged ? 2 * rank : 0;
        for (int i = 0; i < AT_ONCE; i++)
            fill(&q[i], turn);
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(CRESTA_Replay_start(q[(i + shift) % AT_ONCE].recording) == MPI_SUCCESS, "start");
        for (int i = 0; i < AT_ONCE; i++)
            CHECK(CRESTA_Replay_end(q[(i + other) % AT_ONCE].recording) == MPI_SUCCESS, "end");
        for (int i = 0; i < AT_ONCE; i++)
            compare(&q[i], "replayed with others");
    }
    for (int i = 0; i < AT_ONCE; i++)
        close_sequence(&q[i]);
}

/* Plans outlive their communicator; calls that are made again do not. */
static void without_comm(const char *impl)
{
    sequence q;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    open_sequence(&q, comm);
    const bool merged = is_merged(&q);
    fill(&q, 9);
    MPI_Comm_free(&comm);
    CHECK(CRESTA_Replay_start(q.recording) == MPI_SUCCESS, "start");
    const int rc = CRESTA_Replay_end(q.recording);
    CHECK(rc == (merged ? MPI_SUCCESS : MPI_ERR_COMM), "%d without its communicator", rc);
    if (merged)
        compare(&q, "without its communicator");
    close_sequence(&q);
}

/* One message to each peer in place of many. */
static void merges(MPI_Comm comm, const char *impl)
{
    const bool wanted = strcmp(impl, "mpi") != 0 && strcmp(impl, "nonblock") != 0;
    enum { MANY = 20 };
    int in[MANY][RANKS], out[MANY][RANKS], calls, merged, parts, before, now;
    CRESTA_Recording recording;
    memset(in, 0, sizeof in);
    CHECK(CRESTA_Record_begin(comm) == MPI_SUCCESS, "begin");
    for (int i = 0; i < MANY; i++)
        CRESTA_Allgather(&in[i], 1, MPI_INT, out[i], 1, MPI_INT, comm);
    CHECK(CRESTA_Record_end(&recording) == MPI_SUCCESS, "end");
    CHECK(CRESTA_Recording_info(recording, &calls, &merged, &parts, &before, &now) == MPI_SUCCESS,
          "info");
    CHECK(calls == MANY && merged == (wanted && size > 1 ? MANY : merged), "%d of %d merged",
          merged, calls);
    CHECK(wanted || merged == 0, "%d of %d merged", merged, calls);
    if (merged > 0)
        CHECK(parts == 1 && before == MANY * now, "%d parts, %d messages instead of %d", parts, now,
              before);
    else
        CHECK(parts == MANY, "%d parts", parts);
    CRESTA_Recording_free(&recording);
}

static void run(const char *impl)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    choose(comm, impl);
    merges(comm, impl);
    for (int i = 0; i < sequences; i++, seed++) {
        sequence q;
        state = seed * 7919;
        open_sequence(&q, comm);
        replay_each(&q);
        close_sequence(&q);
        if (i % 4 == 0)
            at_once(comm);
        if (i % 4 == 1)
            without_comm(impl);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sequences = argc > 2 ? atoi(argv[2]) : sequences;
    seed = argc > 3 ? strtoul(argv[3], NULL, 10) : seed;
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Finalize();
    return testing_end("recordings");
}
