/* SPDX-License-Identifier: BSD-3-Clause */
/* set_up.c - what it takes to set up a communicator: counts the collectives of the library's own,
 * until its first calls have run.  None is on the communicator itself.
 *
 *     set_up ALL NODE    as many of all ranks, and at most so many on each communicator of a node
 *
 * Those on a tree of messages (mpi/service.h) give the last rank one message each.
 * An earlier communicator of the same ranks, made by the program as well, has what is made once for
 * all of them, and once in a process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "crestacoll.h"
#include "testing/testing.h"

static int counts[2]; /* of all ranks, and of fewer */
static MPI_Comm same = MPI_COMM_NULL;

static void count(MPI_Comm comm)
{
    int size, all;
    CHECK(comm != same, "a collective on the communicator %s", "itself");
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    counts[size < all]++;
}

/* The function of the MPI behind the one of this program. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (next == NULL)                                                                              \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                                 \
    count(comm);                                                                                   \
    return next

int PMPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                    MPI_Request *request)
{
    NEXT(PMPI_Iallreduce)(in, out, n, type, op, comm, request);
}

int PMPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    NEXT(PMPI_Ibcast)(data, n, type, root, comm, request);
}

int PMPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int each, MPI_Datatype as,
                    MPI_Comm comm, MPI_Request *request)
{
    NEXT(PMPI_Iallgather)(in, n, type, out, each, as, comm, request);
}

int PMPI_Improbe(int from, int tag, MPI_Comm comm, int *here, MPI_Message *message,
                 MPI_Status *status)
{
    static __typeof__(&PMPI_Improbe) next;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Improbe");
    const int rc = next(from, tag, comm, here, message, status);
    if (rc == MPI_SUCCESS && *here)
        count(comm);
    return rc;
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    NEXT(PMPI_Comm_create_group)(comm, group, tag, made);
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    NEXT(PMPI_Ibarrier)(comm, request);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    NEXT(PMPI_Comm_create)(comm, group, made);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    NEXT(PMPI_Comm_split)(comm, color, key, made);
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    NEXT(PMPI_Comm_split_type)(comm, type, key, info, made);
}

static void use(MPI_Comm comm)
{
    int rank, size, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2, "sum %d", sum);
    sum = rank == 0 ? 7 : 0;
    CRESTA_Bcast(&sum, 1, MPI_INT, 0, comm);
    CHECK(sum == 7, "bcast %d", sum);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm earlier;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &earlier);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    use(MPI_COMM_WORLD);
    use(earlier);
    counts[0] = counts[1] = 0;
    use(same);
    CHECK(rank < size - 1 || counts[0] == atoi(argv[1]), "%d collectives of all ranks, not %s",
          counts[0], argv[1]);
    CHECK(counts[1] <= atoi(argv[2]), "%d of a node, not %s", counts[1], argv[2]);
    MPI_Comm_free(&same);
    MPI_Comm_free(&earlier);
    MPI_Finalize();
    return testing_end("set_up");
}
