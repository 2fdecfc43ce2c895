/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - see topology.h. */
#include "tune/topology.h"

#include <stdlib.h>
#include <string.h>

#include "core/failure.h"
#include "core/log.h"
#include "core/stencil.h"
#include "core/world.h"
#include "native/defects.h"
#include "native/models.h"
#include "sched/near_mates.h"
#include "tune/agree.h"

static void agree(cco_comm *state, const uint64_t *words, int count, uint64_t *least,
                  uint64_t *most)
{
    if (cco_agree(state->comm, words, count, least, most) == MPI_SUCCESS)
        return;
    memcpy(least, words, (size_t)count * sizeof *words);
    memcpy(most, words, (size_t)count * sizeof *words);
    if (!cco_comm_has_failed(state)) /* otherwise the set-up ends here */
        cco_fatal("cannot set up communicator '%s': the MPI's allreduce failed", state->name);
}

/* The first stencil that the lists of all ranks are, from what they have proposed: each looks on
 * from the last one that some rank sees.  That is none at once for most graphs, and the same for
 * most stencils. */
static void find_stencil(cco_comm *state, uint64_t least, uint64_t most)
{
    cco_neighbors *near = state->topology.near;
    while (least != most && most != CCO_NO_STENCIL) {
        const uint64_t mine = cco_stencil_next(near, state->rank, state->size, most);
        agree(state, &mine, 1, &least, &most);
    }
    if (most == CCO_NO_STENCIL)
        return;
    near->stencil = malloc(sizeof *near->stencil);
    if (near->stencil == NULL)
        cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
    cco_stencil_describe(near->stencil, near, state->rank, state->size, most);
}

/* Each rank sees its own edges alone: what follows from those of others has to be agreed on. */
void cco_topology_find(cco_comm *state)
{
    enum { REPEATS, ONE_SIDED, STENCIL, WORDS };
    cco_topology *t = &state->topology;
    uint64_t words[WORDS], least[WORDS], most[WORDS];
    if (state->inter || t->near != NULL)
        return;
    t->near = cco_neighbors_of(state->comm);
    if (t->near == NULL)
        return;
    words[REPEATS] = cco_neighbors_repeat(t->near);
    words[ONE_SIDED] = cco_neighbors_one_sided(state->comm, t->near, state->rank);
    words[STENCIL] = cco_stencil_next(t->near, state->rank, state->size, 0);
    agree(state, words, WORDS, least, most);
    t->repeats = most[REPEATS] != 0;
    t->one_sided = most[ONE_SIDED] != 0;
    find_stencil(state, least[STENCIL], most[STENCIL]);
}

static bool wants_mates(const cco_comm *state)
{
    const cco_node_map *map = state->nodes.map;
    if (state->topology.near == NULL || state->topology.near->mates != NULL || map == NULL)
        return false;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_is_near((cco_coll)coll) && i < state->choices[coll].count; i++)
            if (state->choices[coll].list[i].way.model->by_nodes)
                return true;
    return false;
}

/* The lists of sources of all ranks of the node, one after the other. */
static int *gather_sources(const cco_comm *state, MPI_Comm node, int ranks, int *degrees)
{
    const cco_neighbors *near = state->topology.near;
    int *at = malloc((size_t)ranks * sizeof *at), *sources = NULL, all = 0;
    int rc = PMPI_Allgather(&near->degrees.in, 1, MPI_INT, degrees, 1, MPI_INT, node);
    for (int i = 0; at != NULL && rc == MPI_SUCCESS && i < ranks; i++) {
        at[i] = all;
        all += degrees[i];
    }
    sources = malloc((size_t)all * sizeof *sources + 1);
    if (at == NULL || sources == NULL)
        cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgatherv(near->in, near->degrees.in, MPI_INT, sources, degrees, at, MPI_INT,
                             node);
    if (rc != MPI_SUCCESS)
        cco_fatal("cannot tell the neighbours of communicator '%s' within a node", state->name);
    free(at);
    return sources;
}

/* The same by a communicator of the node. */
static int *ask_mates(const cco_comm *state, int node, int ranks, int *degrees)
{
    MPI_Comm comm;
    const int place = state->nodes.map->place[state->rank];
    if (PMPI_Comm_split(state->comm, node, place, &comm) != MPI_SUCCESS)
        cco_fatal("cannot tell the neighbours of communicator '%s' within a node", state->name);
    int *sources = gather_sources(state, comm, ranks, degrees);
    PMPI_Comm_free(&comm);
    return sources;
}

/* What all ranks send together. */
static bool agree_to_spare(const cco_comm *state, const cco_node_map *map, int node)
{
    cco_near_sends mine;
    if (!cco_near_sends_of(state->topology.near, map, node, &mine))
        cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
    long all[2] = {mine.ranks, mine.nodes};
    if (state->size > 1 &&
        PMPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_LONG, MPI_SUM, state->comm) != MPI_SUCCESS)
        cco_fatal("cannot count what communicator '%s' sends between nodes", state->name);
    return cco_near_spare(&(cco_near_sends){all[0], all[1]});
}

/* On one node nothing arrives from others, and a rank alone on its node knows all that does. */
void cco_topology_find_mates(cco_comm *state)
{
    const cco_node_map *map = state->nodes.map;
    cco_neighbors *near = state->topology.near;
    if (!wants_mates(state))
        return;
    const int node = map->node[state->rank], ranks = cco_node_ranks(map, node);
    int *degrees = calloc((size_t)ranks, sizeof *degrees), *sources = NULL;
    if (degrees == NULL)
        cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
    if (map->count == map->size)
        degrees[0] = near->degrees.in;
    else if (map->count > 1)
        sources = ask_mates(state, node, ranks, degrees);
    near->mates =
        cco_near_mates_new(map, node, degrees, sources != NULL ? sources : near->in);
    if (near->mates == NULL)
        cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
    near->mates->spare = agree_to_spare(state, map, node);
    free(degrees);
    free(sources);
}

const char *cco_topology_refuses(const cco_comm *state, const cco_way *way, cco_coll coll)
{
    const cco_model *model = way->model;
    if (!cco_is_near(coll) || model == &cco_model_mpi)
        return NULL;
    if (model == &cco_model_nonblock || model == &cco_model_persist)
        return cco_neighbor_defect(coll, &state->topology, false);
    return state->topology.one_sided ? "the graph has edges that only one of their ends knows"
                                     : NULL;
}

bool cco_topology_is_wrong(const cco_comm *state, cco_coll coll)
{
    return cco_is_near(coll) && !cco_is_ours(coll) && state->topology.ruled >> coll & 1 &&
           cco_neighbor_defect(coll, &state->topology, false) != NULL;
}

void cco_topology_warn(const cco_comm *state, cco_coll coll)
{
    static bool warned;
    if (!cco_topology_is_wrong(state, coll) || !cco_world_reports() ||
        __atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        return;
    const cco_choice *choice = &state->choices[coll].list[0];
    const bool wrong = choice->way.model == &cco_model_mpi &&
                       cco_neighbor_defect(coll, &state->topology, true) != NULL;
    cco_log(CCO_LOG_WARN,
            "%s, as on communicator '%s': there %s runs as %s%s; non-blocking and persistent calls"
            " of MPI_%s and others go to the MPI (docs/mpi-defects.md)",
            cco_neighbor_defect(coll, &state->topology, false), state->name,
            cco_coll_infos[coll].name, choice->impl, wrong ? ", which is wrong" : "",
            cco_coll_infos[coll].mpi_name);
}
