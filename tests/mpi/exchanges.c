/* SPDX-License-Identifier: BSD-3-Clause */
/* exchanges.c - CRESTA_Exchange_begin: several under way at once, on several communicators, ended
 * in any order by each way there is, beside blocking ones; lists that change and types that are
 * freed at once; ranks that come late; communicators that are freed first; wrong arguments.
 *
 *     exchanges [multiple] */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <cresta_multisend.h>
#include <cresta_sp_coll.h>

#include "testing/testing.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { MOST = 8, AT_ONCE = 4, LONG = 20000 };

static int rank, size;

static unsigned mix(int a, int b, int c)
{
    unsigned x = (unsigned)a * 2654435761u ^ (unsigned)b * 2246822519u ^ (unsigned)c * 3266489917u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

/* Elements that `from` sends to `to` in exchange `turn`; -1: no message. */
static int length(int from, int to, int turn)
{
    const unsigned x = mix(from + 1, to + 1, turn + 1);
    if (x % 3 == 0)
        return -1;
    return x % 17 == 1 ? LONG : (int)(x / 16 % 5);
}

static int value(int from, int turn, int k)
{
    return 100000 * from + 1000 * (turn % 64) + k % 997;
}

static void come_late(int turn)
{
    if (turn % size == rank)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

/* What one exchange needs until its end. */
struct one {
    int *send, turn, came, all;
    MPI_Request request;
};

static int lists(int turn, int counts[], int displs[], int to[])
{
    int n = 0;
    for (int d = 0; d < size; d++)
        if (length(rank, d, turn) >= 0) {
            counts[n] = length(rank, d, turn);
            displs[n] = 0;
            to[n++] = d;
        }
    return n;
}

/* All messages of a rank are the begin of one buffer, whose elements have gaps in every other
 * exchange. */
static void begin(struct one *o, int turn, MPI_Comm comm, bool blocking)
{
    int counts[MOST], displs[MOST], to[MOST];
    const int n = lists(turn, counts, displs, to), stride = 1 + turn % 2;
    MPI_Datatype type = MPI_INT;
    memset(o, -1, sizeof *o);
    o->turn = turn;
    o->send = malloc(sizeof(int) * LONG * (size_t)stride);
    for (int k = 0; k < LONG; k++)
        o->send[k * stride] = value(rank, turn, k);
    if (stride > 1) {
        MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &type);
        MPI_Type_commit(&type);
    }
    const int rc = blocking ? CRESTA_Exchange(o->send, counts, displs, type, n, to, &o->came,
                                              &o->all, comm)
                            : CRESTA_Exchange_begin(o->send, counts, displs, type, n, to, &o->came,
                                                    &o->all, comm, &o->request);
    CHECK(rc == MPI_SUCCESS, "begin %d: %d", turn, rc);
    if (stride > 1)
        MPI_Type_free(&type);
    memset(counts, -1, sizeof counts);
    memset(displs, -1, sizeof displs);
    memset(to, -1, sizeof to);
}

static void expect(const struct one *o)
{
    int came = 0, all = 0;
    for (int from = 0; from < size; from++)
        if (length(from, rank, o->turn) >= 0) {
            came++;
            all += length(from, rank, o->turn);
        }
    CHECK(o->came == came && o->all == all, "exchange %d: %d messages, not %d; %d, not %d", o->turn,
          o->came, came, o->all, all);
}

static void take(struct one *o, MPI_Comm comm)
{
    int from[MOST], counts[MOST], displs[MOST], wrong = 0, at = 0;
    int *data = malloc(sizeof(int) * ((size_t)o->all + 1));
    expect(o);
    const int rc = CRESTA_Exchange_take(data, from, counts, displs, MPI_INT, comm);
    CHECK(rc == MPI_SUCCESS, "take %d: %d", o->turn, rc);
    for (int r = 0; r < size && rc == MPI_SUCCESS; r++) {
        const int n = length(r, rank, o->turn);
        if (n < 0)
            continue;
        CHECK(from[at] == r && counts[at] == n, "message %d is of %d, %d long", at, from[at],
              counts[at]);
        for (int k = 0; k < n; k++)
            wrong += data[displs[at] + k] != value(r, o->turn, k);
        at++;
    }
    CHECK(wrong == 0, "exchange %d: %d elements", o->turn, wrong);
    free(data);
    free(o->send);
}

static void end_one(MPI_Request *request, int how)
{
    int over = 0, index;
    if (how % 5 == 0)
        CHECK(CRESTA_Coll_end(1, request) == MPI_SUCCESS, "end");
    else if (how % 5 == 1)
        CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "wait");
    else if (how % 5 == 2)
        CHECK(MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS, "waitany");
    while (how % 5 == 3 && !over)
        CHECK(MPI_Test(request, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS, "test");
    while (how % 5 == 4 && !over)
        CHECK(CRESTA_Coll_test(1, request, &over) == MPI_SUCCESS, "test of ours");
    CHECK(*request == MPI_REQUEST_NULL, "its request");
}

/* Several of one communicator, all ended at once, or in another order than they were begun. */
static void try_several(MPI_Comm comm, int turn)
{
    struct one all[AT_ONCE];
    MPI_Request requests[AT_ONCE];
    snprintf(testing_label, sizeof testing_label, "several, from %d on", turn);
    come_late(turn);
    for (int i = 0; i < AT_ONCE; i++)
        begin(&all[i], turn + i, comm, false);
    for (int i = 0; i < AT_ONCE; i++)
        requests[i] = all[i].request;
    if (turn % 2 == 0) {
        CHECK(MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "waitall");
        for (int i = 0; i < AT_ONCE; i++)
            take(&all[i], comm);
        return;
    }
    for (int i = AT_ONCE - 1; i >= 0; i--) { /* the oldest that has ended is this one */
        end_one(&requests[i], turn + i);
        take(&all[i], comm);
    }
}

/* On two communicators, in another order on each rank, with blocking calls between. */
static void try_mixed(MPI_Comm comm, MPI_Comm other, int turn)
{
    struct one a, b, c;
    snprintf(testing_label, sizeof testing_label, "mixed, %d", turn);
    if (rank % 2 == 0)
        begin(&a, turn, comm, false);
    begin(&b, turn + 1, other, false);
    if (rank % 2 == 1)
        begin(&a, turn, comm, false);
    come_late(turn);
    begin(&c, turn + 2, comm, true);
    MPI_Barrier(MPI_COMM_WORLD);
    take(&c, comm); /* that of the begin has not ended yet */
    end_one(&a.request, turn);
    take(&a, comm);
    end_one(&b.request, turn + 1);
    take(&b, other);
}

/* What was not taken of those that have ended goes with the next begin; what has not ended stays.
 */
static void try_dropped(MPI_Comm comm)
{
    struct one a, b, c;
    int none[1] = {-1};
    snprintf(testing_label, sizeof testing_label, "dropped");
    begin(&a, 40, comm, false);
    begin(&b, 41, comm, false);
    end_one(&a.request, 0);
    expect(&a);
    begin(&c, 42, comm, false);
    end_one(&b.request, 1);
    take(&b, comm);
    CHECK(CRESTA_Exchange_take(none, none, none, none, MPI_INT, comm) == MPI_ERR_OTHER,
          "of what is under way nothing is there");
    end_one(&c.request, 2);
    take(&c, comm);
    free(a.send);
}

/* The program frees the communicator first. */
static void try_freed(void)
{
    struct one a, b;
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "freed first");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    begin(&a, 50, comm, false);
    begin(&b, 51, comm, false);
    end_one(&a.request, rank);
    MPI_Comm_free(&comm);
    end_one(&b.request, rank + 1);
    expect(&a);
    expect(&b);
    free(a.send);
    free(b.send);
}

/* The same where nothing else is on our communicator of these ranks, in each way to end it: that
 * communicator has to go, and an MPI frees none in a callback of a request. */
static void try_freed_alone(void)
{
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "freed first, alone");
    for (int turn = 70; turn < 80; turn++) {
        int counts[1] = {1}, displs[1] = {0}, to[1] = {rank}, came = -1, all = -1;
        MPI_Request request;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        MPI_Comm_rank(comm, to);
        const int rc = CRESTA_Exchange_begin(&turn, counts, displs, MPI_INT, 1, to, &came, &all,
                                             comm, &request);
        CHECK(rc == MPI_SUCCESS, "begin: %d", rc);
        MPI_Comm_free(&comm);
        end_one(&request, turn);
        CHECK(came == 1 && all == 1, "%d messages, %d elements", came, all);
    }
}

/* A rank has wrong arguments: it sends nothing, and all get what the others have sent to them. */
static void try_wrong(MPI_Comm comm, int who)
{
    const bool bad = rank == who;
    int x = 7, n = 1, at = 0, to = bad ? size : 0, came = -1, all = -1, got[MOST], from[MOST],
        counts[MOST], displs[MOST], class = MPI_SUCCESS;
    MPI_Request request;
    snprintf(testing_label, sizeof testing_label, "wrong arguments");
    int rc = CRESTA_Exchange_begin(&x, &n, &at, MPI_INT, 1, &to, &came, &all, comm, &request);
    CHECK(rc == MPI_SUCCESS && request != MPI_REQUEST_NULL, "begin: %d", rc);
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    CHECK(class == (bad ? MPI_ERR_RANK : MPI_SUCCESS), "class %d", class);
    CHECK(came == (rank == 0 ? size - 1 : 0) && all == came, "%d messages, %d elements", came, all);
    if (rank == 0 && size > 1)
        CHECK(CRESTA_Exchange_take(got, from, counts, displs, MPI_INT, comm) == MPI_SUCCESS &&
                  got[0] == 7,
              "take");
    CRESTA_Record_begin(comm);
    rc = CRESTA_Exchange_begin(&x, &n, &at, MPI_INT, 0, &to, &came, &all, comm, &request);
    CHECK(rc == MPI_ERR_UNSUPPORTED_OPERATION && request == MPI_REQUEST_NULL, "recorded: %d", rc);
    CRESTA_Recording recording;
    if (CRESTA_Record_end(&recording) == MPI_SUCCESS)
        CRESTA_Recording_free(&recording);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, other;
    int level;
    const bool multiple = argc > 1 && strcmp(argv[1], "multiple") == 0;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of errors of requests */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int turn = 0; turn < 30; turn++)
        try_several(comm, turn);
    for (int turn = 0; turn < 30; turn++)
        try_mixed(comm, other, turn);
    try_dropped(comm);
    try_freed();
    try_freed_alone();
    try_wrong(comm, size - 1);
    try_wrong(comm, 0);
    try_several(comm, 60);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return testing_end("exchanges");
}
