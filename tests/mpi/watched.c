/* SPDX-License-Identifier: BSD-3-Clause */
/* watched.c - a program for watcher.c: each collective once in each of the modes in its arguments
 * ("blocking", "nonblocking", ..., of check/call.h; "all" are those of a plain program), some
 * messages, and all kinds of waits, beside a call under way for which "split" keeps copies.
 *
 *     watched MODE... */
#include "small_call.h"
#include "testing/testing.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

static void begin(MPI_Comm comm, enum coll coll, enum mode mode, MPI_Request *request)
{
    const struct call call = small_call(coll, comm);
    snprintf(testing_label, sizeof testing_label, "%s, %s", coll_names[coll], mode_names[mode]);
    CHECK(call_make(mode, &call, request) == MPI_SUCCESS, "call");
}

static void once(MPI_Comm comm, enum coll coll, enum mode mode)
{
    MPI_Request request;
    begin(comm, coll, mode, &request);
    if (mode_persistent(mode))
        MPI_Start(&request);
    if (coll % 2)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    if (mode_persistent(mode))
        MPI_Request_free(&request);
}

/* Everything that waits or tests. */
static void messages(MPI_Comm comm)
{
    int rank, size, flag, index, done, indices[2], got[2], out_of[2] = {3, 4};
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int way = 0; way < 6; way++) {
        snprintf(testing_label, sizeof testing_label, "messages, way %d", way);
        MPI_Irecv(&got[0], 1, MPI_INT, rank, way, comm, &requests[0]);
        MPI_Isend(&out_of[0], 1, MPI_INT, rank, way, comm, &requests[1]);
        if (way == 0)
            MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        if (way == 1)
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        if (way == 2)
            MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
        if (way == 3)
            MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        if (way == 4)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        if (way == 5)
            MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(got[0] == 3, "message");
    }
}

static bool wanted(enum mode mode, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], mode_names[mode]) == 0 ||
            (strcmp(argv[i], "all") == 0 && !mode_split(mode)))
            return mode_exists(mode) && mode != FREED && mode != SPLIT_FREED;
    return false;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (enum mode mode = BLOCKING; mode < MODES; mode++)
        for (enum coll coll = 0; wanted(mode, argc, argv) && coll < WHOLE_COLLS; coll++)
            once(comm, coll, mode);
    MPI_Request request;
    begin(comm, COLL_Alltoallv, wanted(SPLIT, argc, argv) ? SPLIT : NONBLOCKING, &request);
    messages(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return testing_end("watched");
}
