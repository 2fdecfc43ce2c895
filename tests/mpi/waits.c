/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c - every call that waits or tests, given a begun call beside null and inactive requests,
 * while another rank is late; no requests at all; statuses, or none.
 *
 *     waits IMPL,...
 */
#include "choose.h"

#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

enum { OURS = 1, ALL = 3 }; /* requests: inactive, ours, null */

static int rank, size;
static MPI_Comm comm;
static MPI_Request inactive = MPI_REQUEST_NULL;
static MPI_Status statuses[ALL];

/* The others are in their waits by now, most of the time; it is right if they are not. */
static void late(void)
{
    if (rank == 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static void wait_one(MPI_Request *r, MPI_Status *s)
{
    for (int i = 0; i < ALL; i++)
        MPI_Wait(&r[i], s);
}

static void wait_all(MPI_Request *r, MPI_Status *s)
{
    MPI_Waitall(ALL, r, s == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : s);
}

static void wait_any(MPI_Request *r, MPI_Status *s)
{
    int at = -1;
    MPI_Waitany(ALL, r, &at, s);
    CHECK(at == OURS, "index %d", at);
    MPI_Waitany(ALL, r, &at, s);
    CHECK(at == MPI_UNDEFINED, "index %d of none", at);
}

static void wait_some(MPI_Request *r, MPI_Status *s)
{
    int done = 0, at[ALL] = {-1};
    MPI_Waitsome(ALL, r, &done, at, s == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : s);
    CHECK(done == 1 && at[0] == OURS, "%d ended, the first is %d", done, at[0]);
    MPI_Waitsome(ALL, r, &done, at, s == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : s);
    CHECK(done == MPI_UNDEFINED, "%d of none ended", done);
}

static void test_one(MPI_Request *r, MPI_Status *s)
{
    for (int i = 0, done = 0; i < ALL; i++, done = 0)
        while (!done)
            MPI_Test(&r[i], &done, s);
}

static void test_all(MPI_Request *r, MPI_Status *s)
{
    for (int done = 0; !done;)
        MPI_Testall(ALL, r, &done, s == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : s);
}

static void test_any(MPI_Request *r, MPI_Status *s)
{
    int at = -1;
    for (int done = 0; !done;)
        MPI_Testany(ALL, r, &at, &done, s);
    CHECK(at == OURS, "index %d", at);
}

static void test_some(MPI_Request *r, MPI_Status *s)
{
    int done = 0, at[ALL] = {-1};
    while (done == 0)
        MPI_Testsome(ALL, r, &done, at, s == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : s);
    CHECK(done == 1 && at[0] == OURS, "%d ended, the first is %d", done, at[0]);
}

static void end(MPI_Request *r, MPI_Status *s)
{
    (void)s;
    CRESTA_Coll_end(ALL, r);
}

static void test(MPI_Request *r, MPI_Status *s)
{
    (void)s;
    for (int done = 0; !done;)
        CRESTA_Coll_test(ALL, r, &done);
}

static const struct {
    const char *name;
    void (*run)(MPI_Request *, MPI_Status *);
} ways[] = {{"MPI_Wait", wait_one},      {"MPI_Waitall", wait_all},   {"MPI_Waitany", wait_any},
            {"MPI_Waitsome", wait_some}, {"MPI_Test", test_one},      {"MPI_Testall", test_all},
            {"MPI_Testany", test_any},   {"MPI_Testsome", test_some}, {"CRESTA_Coll_end", end},
            {"CRESTA_Coll_test", test}};

static void one_begin(int way, MPI_Status *s)
{
    int mine = rank + way, sum = -1;
    MPI_Request r[ALL] = {inactive, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    snprintf(testing_label, sizeof testing_label, "%s", ways[way].name);
    late();
    CRESTA_Allreduce_begin(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &r[OURS]);
    ways[way].run(r, s);
    CHECK(sum == size * (size - 1) / 2 + size * way, "sum %d", sum);
    CHECK(r[OURS] == MPI_REQUEST_NULL && r[0] == inactive, "requests after the end");
}

/* The loop of every textbook: as many waits as requests. */
static void loop(void)
{
    enum { N = 4 };
    int mine = rank, sums[N], seen = 0;
    MPI_Request r[N];
    snprintf(testing_label, sizeof testing_label, "MPI_Waitany of %d", N);
    for (int i = 0; i < N; i++) {
        sums[i] = -1;
        late();
        CRESTA_Allreduce_begin(&mine, &sums[i], 1, MPI_INT, MPI_SUM, comm, &r[i]);
    }
    for (int i = 0; i < N; i++) {
        int at = -1;
        MPI_Waitany(N, r, &at, MPI_STATUS_IGNORE);
        CHECK(at >= 0 && at < N && !(seen >> at & 1), "index %d", at);
        CHECK(sums[at] == size * (size - 1) / 2, "sum %d", sums[at]);
        seen |= 1 << at;
    }
}

/* No requests, while something is under way. */
static void none(void)
{
    int at, done = 0, flag = 0, one = 1, sum = 0;
    MPI_Request under_way;
    snprintf(testing_label, sizeof testing_label, "no requests");
    late();
    CRESTA_Allreduce_begin(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &under_way);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag, "MPI_Testall");
    MPI_Waitany(0, NULL, &at, MPI_STATUS_IGNORE);
    CHECK(at == MPI_UNDEFINED, "index %d", at);
    MPI_Waitsome(0, NULL, &done, NULL, MPI_STATUSES_IGNORE);
    CHECK(done == MPI_UNDEFINED, "%d ended", done);
    CRESTA_Coll_end(0, NULL);
    CRESTA_Coll_test(0, NULL, &flag);
    CHECK(flag, "CRESTA_Coll_test");
    MPI_Wait(&under_way, MPI_STATUS_IGNORE);
    CHECK(sum == size, "sum %d", sum);
}

static void run(const char *impl)
{
    int from = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* ends in MPI_Finalize */
    choose(comm, impl);
#if defined(I_MPI_VERSION) /* for which one from nobody is active at once: docs/mpi-defects.md */
    const int source = MPI_ANY_SOURCE;
#else
    const int source = MPI_PROC_NULL;
#endif
    MPI_Recv_init(&from, 1, MPI_INT, source, 1, MPI_COMM_WORLD, &inactive);
    for (int i = 0; i < 3; i++) {
        for (int way = 0; way < LEN(ways); way++) {
            one_begin(way, MPI_STATUS_IGNORE);
            one_begin(way, statuses);
        }
        loop();
        none();
    }
    MPI_Request_free(&inactive);
}

int main(int argc, char **argv)
{
    testing_watchdog(40);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "shm", run);
    MPI_Finalize();
    return testing_end("waits");
}
