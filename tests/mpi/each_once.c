/* SPDX-License-Identifier: BSD-3-Clause */
/* each_once.c - plain MPI: every collective once in every mode the MPI has, on a communicator named
 * "once".
 *
 *     each_once        prints the modes it made: "made: blocking nonblocking persistent large ..."
 * tests/python/test_library_seen_once.py compares with what the preload library recorded.
 */
#include "small_call.h"
#include "testing/testing.h"

static void once(MPI_Comm comm, enum coll coll, enum mode mode)
{
    MPI_Request request;
    const struct call call = small_call(coll, comm);
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
    if (testing_rank == 0)
        printf("made:");
    for (enum mode mode = BLOCKING; mode < MODES; mode++) {
        if (!mode_exists(mode) || mode == FREED)
            continue;
        for (enum coll coll = 0; coll < WHOLE_COLLS; coll++)
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
