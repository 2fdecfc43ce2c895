/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h. */
#include "tune/nodes.h"

#include "core/log.h"
#include "core/mpi_compat.h"
#include "core/wait.h"
#include "tune/agree.h"

static bool wanted;

static bool asks(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (cco_rule_asks_nodes(&rules->list[i]))
            return true;
    return false;
}

void cco_nodes_wanted_by(const cco_rules *rules)
{
    if (asks(rules))
        __atomic_store_n(&wanted, true, __ATOMIC_RELAXED);
}

/* The ranks on this one's node, 0 if the MPI does not say; whether this rank is the first. */
static int ranks_here(MPI_Comm comm, bool *first)
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 1, size = 0;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS &&
        node != MPI_COMM_NULL) {
        PMPI_Comm_rank(node, &rank);
        PMPI_Comm_size(node, &size);
        PMPI_Comm_free(&node);
    }
    *first = rank == 0;
    return cco_disagrees() ? 0 : size;
}

static bool add_up(int *number, MPI_Comm comm)
{
    const int mine = *number;
    MPI_Request request;
    return PMPI_Iallreduce(&mine, number, 1, MPI_INT, MPI_SUM, comm, &request) == MPI_SUCCESS &&
           cco_wait(&request) == MPI_SUCCESS;
}

/* What one rank sees of its node comes together: all get the same numbers, or none. */
void cco_nodes_count(cco_comm *state, const cco_rules *more)
{
    bool first = true;
    uint64_t least = 1, most = 1;
    int nodes = 1;
    if (state->nodes.counted || !(__atomic_load_n(&wanted, __ATOMIC_RELAXED) || asks(more)))
        return;
    if (state->size > 1) { /* alone: see cco_agree */
        const uint64_t here = (uint64_t)ranks_here(state->comm, &first);
        nodes = first;
        if (cco_agree(state->comm, &here, 1, &least, &most) != MPI_SUCCESS ||
            !add_up(&nodes, state->comm))
            cco_fatal("cannot count the nodes of communicator '%s': the MPI's allreduce failed",
                      state->name);
    }
    const bool known = least > 0;
    state->nodes = (cco_nodes){true, known ? nodes : 0, known ? (int)least : 0, (int)most};
}
