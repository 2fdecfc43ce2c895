/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c - CRESTA_Win_init and CRESTA_Win_finalize: on communicators that overlap, made by all
 * of them at once, used before, between and after; data that are longer than the window.
 *
 *     windows IMPL [N]      N ints for each rank, 5000 if not given */
#include <stdio.h>
#include <stdlib.h>

#include "crestacoll.h"
#include "testing/testing.h"

enum { MOST = 5000 };
static int n = MOST; /* ints of a block: longer than small windows */

static void use(MPI_Comm comm, int round)
{
    static int send[8 * MOST], recv[8 * MOST];
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size * n; i++)
        send[i] = round * 1000003 + rank * 10007 + i;
    CRESTA_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            CHECK(recv[from * n + i] == round * 1000003 + from * 10007 + rank * n + i,
                  "round %d: block %d, %d", round, from, i);
    CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "round %d: sum %d", round, sum);
}

int main(int argc, char **argv)
{
    enum { COMMS = 4 };
    char spec[128];
    int rank;
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    testing_watchdog(110);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]); /* as many windows at once */
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &comms[3]);
    snprintf(spec, sizeof spec, "*=%s", argc > 1 ? argv[1] : "os");
    if (argc > 2)
        n = atoi(argv[2]);
    CHECK(n > 0 && n <= MOST, "%d ints", n);
    for (int i = 0; i < COMMS; i++)
        CHECK(CRESTA_Set_impl(comms[i], spec) == MPI_SUCCESS, "%s", spec);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; round != 1 && i < COMMS; i++) /* in round 1 nobody said so */
            CHECK(CRESTA_Win_init(comms[i]) == MPI_SUCCESS, "init");
        for (int again = 0; again < 3; again++)
            for (int i = 0; i < COMMS; i++)
                use(comms[i], round * 3 + again);
        if (round < 3)
            CHECK(CRESTA_Win_finalize() == MPI_SUCCESS, "finalize");
    }
    MPI_Comm_free(&comms[2]); /* the others end in MPI_Finalize */
    const int failed = testing_end("windows");
    MPI_Finalize();
    return failed;
}
