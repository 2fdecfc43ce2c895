/* SPDX-License-Identifier: BSD-3-Clause */
/* nearby.c - communicators with a topology in a program that calls no neighbourhood collective on
 * them, and then one that does.
 *
 *     nearby quiet | calls | begins [idle]
 *
 * says what comes after that: nothing, a call, a begin; and that until then nothing has been asked
 * of all ranks.  Counts what the library asks of them: it does so by PMPI_Iallreduce. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include <cresta_sp_coll.h>

#include "testing/testing.h"

static int agreements; /* since MPI_Init */

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    typedef int (*iallreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                              MPI_Request *);
    static iallreduce next;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
    agreements++;
    return next(sendbuf, recvbuf, count, type, op, comm, request);
}

/* A ring, which one or two ranks close by several edges. */
static MPI_Comm make_ring(int size)
{
    const int dims[] = {size}, periods[] = {1};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    return ring;
}

static void call_others(MPI_Comm comm, int size)
{
    int one = 1, sum = 0;
    CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size, "allreduce: %d", sum);
    CRESTA_Bcast(&sum, 1, MPI_INT, 0, comm);
    CRESTA_Barrier(comm);
}

static void call_neighbors(MPI_Comm ring, int rank, int size, int begun)
{
    const int send[2] = {10 * rank, 10 * rank + 1};
    int recv[2] = {-1, -1};
    MPI_Request request;
    if (begun) {
        CRESTA_Neighbor_alltoall_begin(send, 1, MPI_INT, recv, 1, MPI_INT, ring, &request);
        CRESTA_Coll_end(1, &request);
        return;
    }
    CRESTA_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, ring);
    CHECK(recv[0] == 10 * ((rank + size - 1) % size) + 1, "from below: %d", recv[0]);
    CHECK(recv[1] == 10 * ((rank + 1) % size), "from above: %d", recv[1]);
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *what = argc > 1 ? argv[1] : "quiet";
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    agreements = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm ring = make_ring(size);
    call_others(MPI_COMM_WORLD, size);
    call_others(ring, size);
    if (argc > 2)
        CHECK(agreements == 0, "%d agreements of the library", agreements);
    if (strcmp(what, "begins") == 0)
        CRESTA_Comm_prepare(ring);
    for (int i = 0; i < 2 && strcmp(what, "quiet") != 0; i++)
        call_neighbors(ring, rank, size, strcmp(what, "begins") == 0);
    call_others(ring, size);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return testing_end("nearby");
}
