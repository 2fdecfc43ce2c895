/* SPDX-License-Identifier: BSD-3-Clause */
/* multisend_ends.c - sends to lists of ranks beside other calls, with a message that fails, and
 * after the end of their communicator. */
#include <string.h>
#include <unistd.h>

#include "crestacoll.h"
#include "cresta_multisend.h"
#include "testing/testing.h"

static int rank, size;

/* A rank that is still in an exchange takes no message of a later call, however many of these come
 * before it leaves: tags come round. */
static void try_calls_between(int calls)
{
    int sources = -1, elements = -1, wrong = 0;
    snprintf(testing_label, sizeof testing_label, "%d calls between exchanges", calls);
    for (int i = 0; i < 15; i++) {
        if (rank == 0)
            usleep(200);
        CRESTA_Exchange(NULL, NULL, NULL, MPI_INT, 0, NULL, &sources, &elements, MPI_COMM_WORLD);
        CHECK(sources == 0 && elements == 0, "%d messages that nobody sent", sources);
        for (int k = 0; k < calls; k++) {
            int x = rank == 0 ? k : -1;
            CRESTA_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
            wrong += x != k;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(wrong == 0, "%d broadcasts", wrong);
}

/* Rank 0 hears of all others; that of rank 1 is too long, that of the last comes late. */
static void try_failed_message(void)
{
    const int root = 0, late = size - 1;
    int in[64], out[4] = {rank, rank, rank, rank}, counts[64], displs[64], from[64];
    int flags[64], flag = 0, class = 0;
    CRESTA_Multisend m;
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "a message too long");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 1; i < size; i++) {
        counts[i - 1] = 1;
        displs[i - 1] = from[i - 1] = i;
    }
    memset(in, -1, sizeof in);
    CRESTA_Multicast_init(out, rank == 1 ? 4 : 1, rank != 0, &root, in, counts, displs,
                          rank == 0 ? size - 1 : 0, from, MPI_INT, comm, &m);
    CRESTA_Multisend_notify(m, NULL, NULL, flags);
    if (rank == late)
        usleep(20000);
    CHECK(CRESTA_Multisend_start(m) == MPI_SUCCESS, "start");
    const int rc = CRESTA_Multisend_wait(m);
    MPI_Error_class(rc, &class);
    CHECK(class == (rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "class %d", class);
    CHECK(CRESTA_Multisend_test(m, &flag) == MPI_SUCCESS && flag, "it is over");
    for (int i = 2; rank == 0 && i < size; i++)
        CHECK(in[i] == i && flags[i - 1] == 1, "of rank %d: %d, flag %d", i, in[i], flags[i - 1]);
    CHECK(CRESTA_Multisend_free(&m) == MPI_SUCCESS, "free");
    MPI_Comm_free(&comm);
}

/* As requests of the MPI do. */
static void try_after_communicator(void)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int in = -1, count = 1, displ = 0;
    CRESTA_Multisend m;
    MPI_Comm comm;
    snprintf(testing_label, sizeof testing_label, "after its communicator");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CRESTA_Multicast_init(&rank, 1, 1, &next, &in, &count, &displ, 1, &before, MPI_INT, comm, &m);
    MPI_Comm_free(&comm);
    CHECK(CRESTA_Multisend_start(m) == MPI_SUCCESS && CRESTA_Multisend_wait(m) == MPI_SUCCESS,
          "start and wait");
    CHECK(in == before, "%d", in);
    CHECK(CRESTA_Multisend_free(&m) == MPI_SUCCESS, "free");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH tells it all errors */
    CRESTA_Set_impl(MPI_COMM_WORLD, "bcast=p2p");
    for (int calls = 123; calls < 129; calls++)
        try_calls_between(calls);
    if (size >= 3)
        try_failed_message();
    try_after_communicator();
    MPI_Finalize();
    return testing_end("multisend_ends");
}
