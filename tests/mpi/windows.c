/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c - CRESTA_Win_init and CRESTA_Win_finalize: on communicators that overlap, made by all
 * of them at once, used before, between and after; data that are longer than the window.
 *
 *     windows IMPL,... [N]      N ints for each rank, 5000 if not given */
#include <stdio.h>
#include <stdlib.h>

#include "crestacoll.h"
#include "testing/testing.h"

enum { MOST = 5000, COMMS = 4, IMPLS = 12, LAST = 3 };
static int n = MOST; /* ints of a block: longer than small windows */
static int rank;     /* in MPI_COMM_WORLD */

static void use(MPI_Comm comm, int round)
{
    static int send[8 * MOST], recv[8 * MOST];
    int me, size, sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size * n; i++)
        send[i] = round * 1000003 + me * 10007 + i;
    CRESTA_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            CHECK(recv[from * n + i] == round * 1000003 + from * 10007 + me * n + i,
                  "round %d: block %d, %d", round, from, i);
    CRESTA_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "round %d: sum %d", round, sum);
}

/* What an implementation of the list has; kept until MPI_Finalize, which ends windows too. */
static struct comms {
    const char *impl;
    MPI_Comm all[COMMS];
} made[IMPLS];
static int impls;

static void make(struct comms *c, const char *impl)
{
    char spec[128];
    c->impl = impl;
    c->all[0] = MPI_COMM_WORLD; /* of the first; a communicator has one implementation */
    if (impls > 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &c->all[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &c->all[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &c->all[2]); /* as many windows at once */
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &c->all[3]);
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int i = 0; i < COMMS; i++)
        CHECK(CRESTA_Set_impl(c->all[i], spec) == MPI_SUCCESS, "%s", spec);
}

static void init_and_use(struct comms *c, int round)
{
    for (int i = 0; round != 1 && i < COMMS; i++) /* in round 1 nobody said so */
        CHECK(CRESTA_Win_init(c->all[i]) == MPI_SUCCESS, "init");
    for (int again = 0; again < 3; again++)
        for (int i = 0; i < COMMS; i++)
            use(c->all[i], round * 3 + again);
}

static void run(const char *impl)
{
    struct comms *c = &made[impls];
    if (!CHECK(impls < IMPLS, "more than %d implementations", IMPLS))
        return;
    make(c, impl);
    impls++;
    for (int round = 0; round < LAST; round++) {
        init_and_use(c, round);
        CHECK(CRESTA_Win_finalize() == MPI_SUCCESS, "finalize");
    }
}

/* The windows of all implementations, at once. */
static void last_round(void)
{
    for (int i = 0; i < impls; i++) {
        testing_impl = made[i].impl;
        init_and_use(&made[i], LAST);
        MPI_Comm_free(&made[i].all[2]); /* the others end in MPI_Finalize */
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    testing_watchdog(110);
    if (argc > 2)
        n = atoi(argv[2]);
    CHECK(n > 0 && n <= MOST, "%d ints", n);
    testing_each(argc > 1 ? argv[1] : "os", run);
    last_round();
    const int failed = testing_end("windows");
    MPI_Finalize();
    return failed;
}
