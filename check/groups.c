/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - world, self, and communicators by dup, idup, split, reversed ranks, create_group. */
#include "groups.h"

#include "call.h"

struct group groups[GROUPS];

static struct group group_of(const char *name, MPI_Comm comm)
{
    struct group group = {name, comm, MPI_UNDEFINED, 0};
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &group.rank);
        MPI_Comm_size(comm, &group.size);
    }
    return group;
}

/* All but rank 0, made by its members alone; all of one rank. */
static MPI_Comm without_first(int rank, int size)
{
    const int first = 0;
    MPI_Group world, some;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, size > 1 ? 1 : 0, &first, &some);
    if (rank > 0 || size == 1)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    return comm;
}

void groups_make(void)
{
    int rank, size;
    MPI_Comm odd, reversed, dup, idup;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &odd);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
    wait_politely(&request);
    groups[0] = group_of("world", MPI_COMM_WORLD);
    groups[1] = group_of("self", MPI_COMM_SELF);
    groups[2] = group_of("odd/even", odd);
    groups[3] = group_of("reversed", reversed);
    groups[4] = group_of("dup", dup);
    groups[5] = group_of("idup", idup);
    groups[6] = group_of("create_group", without_first(rank, size));
}

void groups_free(void)
{
    for (int i = 2; i < GROUPS; i++)
        if (groups[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&groups[i].comm);
}
