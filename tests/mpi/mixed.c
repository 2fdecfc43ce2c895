/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed.c - what ends all of some requests, given a call of ours under way beside a null request,
 * an inactive one, persistent collectives that have ended or are under way, and messages.
 *
 *     mixed IMPL,...          begins
 *     mixed_plain IMPL,...    MPI_Iallreduce, under the preload library, communicators of these
 *                             names
 */
#include "call.h"
#include "choose.h"

#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

enum request { NONE, INACTIVE, OURS, ENDED, STARTED, MESSAGE, REQUESTS };

static int rank, size, nothing;
static MPI_Comm comm;
static MPI_Request inactive = MPI_REQUEST_NULL;

static void wait_all(MPI_Request *r, MPI_Status *s, int *rc)
{
    *rc = MPI_Waitall(REQUESTS, r, s);
}

static void wait_all_ignore(MPI_Request *r, MPI_Status *s, int *rc)
{
    (void)s;
    *rc = MPI_Waitall(REQUESTS, r, MPI_STATUSES_IGNORE);
}

#ifndef PLAIN_MPI
static void end(MPI_Request *r, MPI_Status *s, int *rc)
{
    (void)s;
    *rc = CRESTA_Coll_end(REQUESTS, r);
}

static void test(MPI_Request *r, MPI_Status *s, int *rc)
{
    (void)s;
    for (int done = 0; !done;) {
        const MPI_Request ours = r[OURS], message = r[MESSAGE];
        *rc = CRESTA_Coll_test(REQUESTS, r, &done);
        done = done || *rc != MPI_SUCCESS;
        CHECK(done || (r[OURS] == ours && r[MESSAGE] == message), "a request changed");
    }
}
#endif

static const struct {
    const char *name;
    void (*run)(MPI_Request *, MPI_Status *, int *);
} ways[] = {{"MPI_Waitall", wait_all},
            {"MPI_Waitall, no statuses", wait_all_ignore},
#ifndef PLAIN_MPI
            {"CRESTA_Coll_end", end},
            {"CRESTA_Coll_test", test}
#endif
};

/* On one rank, so that it ends at once. */
static void make_persistent(int *one, int *sum, MPI_Request *request)
{
    const struct call call = {.coll = COLL_Allreduce,
                              .sendbuf = one,
                              .sendcount = 1,
                              .sendtype = MPI_INT,
                              .recvbuf = sum,
                              .recvcount = 1,
                              .recvtype = MPI_INT,
                              .op = MPI_SUM,
                              .comm = MPI_COMM_SELF};
    call_make(PERSISTENT, &call, request);
    MPI_Start(request);
}

static void begin(int *mine, int *sum, MPI_Request *request)
{
#ifdef PLAIN_MPI
    MPI_Iallreduce(mine, sum, 1, MPI_INT, MPI_SUM, comm, request);
#else
    CRESTA_Allreduce_begin(mine, sum, 1, MPI_INT, MPI_SUM, comm, request);
#endif
}

/* The others are in their waits by now, most of the time; it is right if they are not. */
static void late(void)
{
    if (rank == 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static void check_statuses(const MPI_Status *statuses)
{
    const int from = (rank + size - 1) % size;
    for (int i = 0; i < REQUESTS; i++) {
        int count = -1;
        if (i == OURS || i == ENDED || i == STARTED)
            continue; /* nothing says what is in those of collectives */
        MPI_Get_count(&statuses[i], MPI_INT, &count);
        CHECK(statuses[i].MPI_SOURCE == (i == MESSAGE ? from : MPI_ANY_SOURCE), "source %d of %d",
              statuses[i].MPI_SOURCE, i);
        CHECK(count == (i == MESSAGE), "count %d of %d", count, i);
    }
}

static void one(int way, bool persistent)
{
    int mine = rank + way, sum = -1, got = -1, to = (rank + 1) % size, rc, ones = 1, sums[2] = {0};
    MPI_Request r[REQUESTS], sent, ended = MPI_REQUEST_NULL, started = MPI_REQUEST_NULL;
    MPI_Status statuses[REQUESTS];
    snprintf(testing_label, sizeof testing_label, "%s, %s", ways[way].name,
             persistent ? "with persistent collectives" : "without");
    if (persistent) {
        make_persistent(&ones, &sums[0], &ended);
        MPI_Wait(&ended, MPI_STATUS_IGNORE);
        make_persistent(&ones, &sums[1], &started);
    }
    r[NONE] = MPI_REQUEST_NULL;
    r[INACTIVE] = inactive;
    r[ENDED] = ended;
    r[STARTED] = started;
    late();
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[MESSAGE]);
    MPI_Isend(&mine, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &sent);
    begin(&mine, &sum, &r[OURS]);
    ways[way].run(r, statuses, &rc);
    CHECK(rc == MPI_SUCCESS, "error %d", rc);
    CHECK(sum == size * (size - 1) / 2 + size * way, "sum %d", sum);
    CHECK(got == (rank + size - 1) % size + way, "got %d", got);
    CHECK(r[OURS] == MPI_REQUEST_NULL && r[MESSAGE] == MPI_REQUEST_NULL, "requests that ended");
    CHECK(r[INACTIVE] == inactive && r[ENDED] == ended && r[STARTED] == started,
          "persistent requests");
    CHECK(!persistent || sums[1] == 1, "sum %d of a persistent collective", sums[1]);
    if (ways[way].run == wait_all)
        check_statuses(statuses);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (persistent) {
        MPI_Request_free(&ended);
        MPI_Request_free(&started);
    }
}

static void run(const char *impl)
{
    int mine = 1, sum = 0;
    MPI_Request first;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* ends in MPI_Finalize */
    choose(comm, impl);
    begin(&mine, &sum, &first); /* asks for what the next blocking call makes ready */
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < LEN(ways); way++) {
            one(way, false);
            if (mode_exists(PERSISTENT))
                one(way, true);
        }
}

int main(int argc, char **argv)
{
    testing_watchdog(40);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    /* Once: where it was MPICH 4.0 would put a persistent collective that never ends. */
#if defined(I_MPI_VERSION) /* for which one from nobody is active at once: docs/mpi-defects.md */
    const int source = MPI_ANY_SOURCE;
#else
    const int source = MPI_PROC_NULL;
#endif
    MPI_Recv_init(&nothing, 1, MPI_INT, source, 1, MPI_COMM_WORLD, &inactive);
    testing_each(argc > 1 ? argv[1] : "shm", run);
    MPI_Request_free(&inactive);
    MPI_Finalize();
    return testing_end("mixed");
}
