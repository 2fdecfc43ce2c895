/* SPDX-License-Identifier: BSD-3-Clause */
/* landed_fails.c - a block that has come cannot be unpacked: its call ends with that error, and
 * what it had not received yet is never taken for data of a later call.  Rank 0's own block is
 * there at once; rank 1 begins when rank 0 has failed. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "cresta_sp_coll.h"
#include "crestacoll.h"
#include "testing/testing.h"

enum { OTHERS = 3, UNPACKED = -7 }; /* calls until the memory of the first is used again */

static int failing; /* the next block is not unpacked */

typedef int unpack(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);

/* In place of the MPI's. */
int PMPI_Unpack(const void *from, int size, int *at, void *to, int count, MPI_Datatype type,
                MPI_Comm comm)
{
    unpack *real = (unpack *)dlsym(RTLD_NEXT, "PMPI_Unpack");
    if (failing-- > 0)
        return MPI_ERR_OTHER;
    failing = 0;
    return real(from, size, at, to, count, type, comm);
}

static MPI_Request begin(int *data, int mine, int *all, MPI_Datatype gapped, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    data[0] = data[1] = mine;
    all[0] = all[2] = UNPACKED;
    const int rc = CRESTA_Alltoall_begin(data, 1, MPI_INT, all, 1, gapped, comm, &request);
    CHECK(rc == MPI_SUCCESS, "error %d", rc);
    return request;
}

int main(int argc, char **argv)
{
    int rank, n, block, data[2], all[4];
    MPI_Comm comm;
    MPI_Datatype gapped;
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CRESTA_Set_impl(comm, "*=shm");
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    if (rank == 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = begin(data, rank, all, gapped, comm);
    if (rank == 0) {
        failing = 1;
        CRESTA_Coll_testsome(request, 1, &block, &n);
    }
    const int rc = CRESTA_Coll_end(1, &request);
    CHECK((rc == MPI_SUCCESS) == (rank != 0), "error %d", rc);
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < OTHERS; i++) {
        request = begin(data, 10 + rank, all, gapped, comm);
        CHECK(CRESTA_Coll_end(1, &request) == MPI_SUCCESS && all[0] == 10 && all[2] == 11,
              "call %d: %d %d", i, all[0], all[2]);
    }
    if (rank == 0) { /* rank 1 does not begin this one */
        request = begin(data, 20, all, gapped, comm);
        CHECK(CRESTA_Coll_end(1, &request) != MPI_SUCCESS, "%d came", all[2]);
    }
    MPI_Type_free(&gapped);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return testing_end("landed_fails");
}
