/* SPDX-License-Identifier: BSD-3-Clause */
/* each_once.c - plain MPI: every collective once in every mode the MPI has, on a communicator named
 * "once".
 *
 *     each_once        prints the modes it made: "made: blocking nonblocking persistent large ..."
 * tests/python/test_library_seen_once.py compares with what the preload library recorded.
 */
#include "call.h"
#include "testing/testing.h"

enum { MOST = 16 };

static int in[MOST], out[MOST], ones[MOST], displs[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static void once(MPI_Comm comm, enum coll coll, enum mode mode)
{
    MPI_Request request;
    const struct call call = {
        .coll = coll,
        .sendbuf = in,
        .sendcount = 1,
        .sendtype = MPI_INT,
        .sendcounts = ones,
        .senddispls = coll == COLL_Alltoallw ? bytes : displs,
        .sendtypes = types,
        .recvbuf = out,
        .recvcount = 1,
        .recvtype = MPI_INT,
        .recvcounts = ones,
        .recvdispls = coll == COLL_Alltoallw ? bytes : displs,
        .recvtypes = types,
        .op = MPI_SUM,
        .comm = comm,
    };
    snprintf(testing_label, sizeof testing_label, "%s, %s", coll_names[coll], mode_names[mode]);
    CHECK(call_make(mode, &call, &request) == MPI_SUCCESS, "call");
    if (mode_persistent(mode))
        MPI_Start(&request);
    if (request != MPI_REQUEST_NULL)
        wait_politely(&request);
    if (mode_persistent(mode))
        MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "once");
    for (int i = 0; i < MOST; i++)
        ones[i] = 1, displs[i] = i, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    if (testing_rank == 0)
        printf("made:");
    for (enum mode mode = BLOCKING; mode < MODES; mode++) {
        if (!mode_exists(mode) || mode == FREED)
            continue;
        for (enum coll coll = 0; coll < COLLS; coll++)
            once(comm, coll, mode);
        if (testing_rank == 0)
            printf(" %s;", mode_names[mode]);
    }
    if (testing_rank == 0)
        printf("\n");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return testing_end("each_once");
}
