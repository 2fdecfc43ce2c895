/* SPDX-License-Identifier: BSD-3-Clause */
/* near_inside.c - neighbours that are on one node all, of hier:leaders without shared memory: a
 * leader has nothing to send, but one rank's call can be remembered and another's cannot. */
#include <crestacoll.h>

#include "testing/testing.h"

enum { TIMES = 5 };

int main(int argc, char **argv)
{
    int rank, size, got[2];
    MPI_Comm comm;
    MPI_Datatype two;
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    const int peer = rank < 2 ? 1 - rank : rank, one = 1; /* CRESTA_NODES=2+1 */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &one, 1, &peer, &one, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    CHECK(CRESTA_Set_impl(comm, "neighbor_alltoall=hier:leaders") == MPI_SUCCESS, "refused");
    for (int i = 0; i < TIMES; i++) {
        const int give[2] = {rank, i}, derived = rank == 0, n = derived ? 1 : 2;
        const MPI_Datatype type = derived ? two : MPI_INT;
        CRESTA_Neighbor_alltoall(give, n, type, got, n, type, comm);
        CHECK(got[0] == peer && got[1] == i, "%d %d in call %d", got[0], got[1], i);
    }
    MPI_Type_free(&two);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return testing_end("near_inside");
}
