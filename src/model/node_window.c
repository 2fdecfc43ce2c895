/* SPDX-License-Identifier: BSD-3-Clause */
/* node_window.c - see node_window.h. */
#include "model/node_window.h"

#include "comm/channel.h"
#include "mpi/service.h"
#include "transport/rma/shared.h"
#include "transport/stream/stream.h"

/* The ranks of this node.  Errors on the program's communicator would be the program's.  Collective
 * over all ranks; MPI_COMM_NULL on all of a node if the MPI refuses. */
static MPI_Comm node_window_split(const cco_comm *state, int node, int place)
{
    MPI_Comm copy = cco_comm_copy(state->comm), made = MPI_COMM_NULL;
    if (copy == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    if (PMPI_Comm_split(copy, node, place, &made) != MPI_SUCCESS)
        made = MPI_COMM_NULL;
    if (made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    PMPI_Comm_free(&copy);
    return made;
}

/* On all ranks of a node.  The MPI may know less than the map: whether they share memory. */
static const char *node_window_make(cco_window *w, size_t ring, MPI_Comm node, cco_window_life life)
{
    int ranks;
    PMPI_Comm_size(node, &ranks);
    if (ranks == 1)
        return NULL;
    if (!cco_window_can_share(node))
        return "the ranks of a node share no memory";
    return cco_window_make(w, cco_stream_share(ranks, ring), cco_stream_share(ranks, 0), node, true,
                           life);
}

const char *cco_node_window_make(cco_window *window, size_t ring, const cco_comm *state,
                                 cco_window_life life)
{
    const cco_node_map *map = state->nodes.map;
    *window = (cco_window){.win = MPI_WIN_NULL};
    if (map->most == 1)
        return NULL;
    MPI_Comm node = node_window_split(state, map->node[state->rank], map->place[state->rank]);
    const char *why = "the MPI could not make a communicator";
    if (cco_service_all(node != MPI_COMM_NULL, state->comm))
        why = node_window_make(window, ring, node, life);
    if (!cco_service_all(why == NULL, state->comm)) {
        cco_window_free(window);
        why = why != NULL ? why : "there is no window on another node";
    }
    window->area.comm = state->comm; /* where the MPI is asked to get on */
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    return why;
}
