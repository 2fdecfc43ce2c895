/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c - see world.h. */
#include "base/world.h"

bool cco_has_world(void)
{
    int begun = 0, over = 0;
    return PMPI_Initialized(&begun) == MPI_SUCCESS && begun &&
           PMPI_Finalized(&over) == MPI_SUCCESS && !over;
}

static bool world_contains(MPI_Group world, MPI_Group group)
{
    MPI_Group both;
    int common = 0, all = -1;
    if (PMPI_Group_intersection(group, world, &both) != MPI_SUCCESS)
        return false;
    PMPI_Group_size(both, &common);
    PMPI_Group_size(group, &all);
    PMPI_Group_free(&both);
    return common == all;
}

bool cco_in_world(MPI_Comm comm)
{
    MPI_Group group, world;
    bool in = false;
    if (!cco_has_world() || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return false;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        in = world_contains(world, group);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return in;
}

bool cco_world_rank(int *rank)
{
    int initialized = 0;
    return PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
           PMPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS;
}

int cco_world_rank_of(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int there = MPI_UNDEFINED;
    if (!cco_has_world() || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return there;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        PMPI_Group_translate_ranks(group, 1, &rank, world, &there);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return there;
}

bool cco_world_reports(void)
{
    int rank = 0;
    return !cco_world_rank(&rank) || rank == 0;
}
