/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_part.c - see profile_part.h. */
#define _GNU_SOURCE
#include "core/profile_part.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "core/json_out.h"
#include "core/node_key.h"
#include "mpi/service.h"

static const cresta_profile_part_table *part; /* if all ranks have it */
static bool merged;

void cco_profile_part_begin(void)
{
    const cresta_profile_part_table *mine = dlsym(RTLD_DEFAULT, "cresta_profile_part");
    const uint64_t node = cco_node_key();
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t *nodes = malloc(sizeof *nodes * (size_t)ranks);
    if (!cco_service_all(mine != NULL && nodes != NULL, MPI_COMM_WORLD))
        mine = NULL;
    else if (cco_service_allgather(&node, nodes, sizeof node, MPI_COMM_WORLD) == MPI_SUCCESS)
        mine->begin(nodes, ranks);
    free(nodes);
    part = mine;
}

void cco_profile_part_merge(MPI_Comm comm)
{
    if (part == NULL)
        return;
    part->end();
    merged = cco_service_merge(&(cco_merger){part->give, part->take, NULL, NULL, NULL}, comm);
}

void cco_profile_part_put(FILE *file)
{
    if (!merged)
        return;
    fprintf(file, ",\n \"%s\": ", part->member);
    part->put(file, cco_put_string);
}
