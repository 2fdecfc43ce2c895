/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - see topology.h. */
#include "tune/topology.h"

#include <stdlib.h>
#include <string.h>

#include "comm/failure.h"
#include "base/log.h"
#include "mpi/service.h"
#include "comm/stencil.h"
#include "base/world.h"
#include "native/defects.h"
#include "native/models.h"
#include "sched/neighbor_mates.h"
#include "tune/agree.h"

static void topology_agree(cco_comm *state, const uint64_t *words, int count, uint64_t *least,
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
        topology_agree(state, &mine, 1, &least, &most);
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
    enum { REPEATS, ONE_SIDED, SINKS, STENCIL, WORDS };
    cco_topology *t = &state->topology;
    uint64_t words[WORDS], least[WORDS], most[WORDS];
    if (state->inter || t->near != NULL)
        return;
    t->near = cco_neighbors_of(state->comm);
    if (t->near == NULL)
        return;
    words[REPEATS] = cco_neighbors_repeat(t->near);
    words[ONE_SIDED] = cco_neighbors_one_sided(state->comm, t->near, state->rank);
    words[SINKS] = t->near->degrees.in > 0 && t->near->degrees.out == 0;
    words[STENCIL] = cco_stencil_next(t->near, state->rank, state->size, 0);
    topology_agree(state, words, WORDS, least, most);
    t->repeats = most[REPEATS] != 0;
    t->one_sided = most[ONE_SIDED] != 0;
    t->sinks = most[SINKS] != 0;
    find_stencil(state, least[STENCIL], most[STENCIL]);
}

static bool wants_mates(const cco_comm *state)
{
    const cco_node_map *map = state->nodes.map;
    if (state->topology.near == NULL || state->topology.near->mates != NULL || map == NULL)
        return false;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_is_neighbor((cco_coll)coll) && i < state->chosen.of[coll].count; i++)
            if (state->chosen.of[coll].list[i].way.model->by_nodes)
                return true;
    return false;
}

__attribute__((noreturn)) static void topology_no_memory(const cco_comm *state)
{
    cco_fatal("no memory for the neighbours of communicator '%s'", state->name);
}

/* The lists of all ranks of the node, one after the other. */
static void gather_lists(const cco_comm *state, const cco_company *node, const int *peers,
                         int degree, cco_neighbor_lists *all)
{
    int sum = 0, before = 0;
    all->degrees[node->place] = degree;
    int rc = cco_service_allreduce_among(all->degrees, node->count, MPI_INT, MPI_SUM, node);
    for (int i = 0; rc == MPI_SUCCESS && i < node->count; i++) {
        before += i < node->place ? all->degrees[i] : 0;
        sum += all->degrees[i];
    }
    all->peers = calloc((size_t)sum + 1, sizeof *all->peers);
    if (all->peers == NULL)
        topology_no_memory(state);
    if (degree > 0)
        memcpy(all->peers + before, peers, (size_t)degree * sizeof *peers);
    if (rc == MPI_SUCCESS)
        rc = cco_service_allreduce_among(all->peers, sum, MPI_INT, MPI_BOR, node);
    if (rc != MPI_SUCCESS)
        cco_fatal("cannot exchange the neighbours of communicator '%s' within a node", state->name);
}

/* Asks the mates, the ranks of this node. */
static void ask_mates(const cco_comm *state, int node, cco_neighbor_lists *in,
                      cco_neighbor_lists *out)
{
    const cco_neighbors *near = state->topology.near;
    const cco_node_map *map = state->nodes.map;
    const cco_company mates = {state->comm, &map->ranks[map->first[node]],
                               cco_node_ranks(map, node), map->place[state->rank]};
    gather_lists(state, &mates, near->in, near->degrees.in, in);
    gather_lists(state, &mates, near->out, near->degrees.out, out);
}

/* What all ranks send together. */
static bool agree_to_spare(const cco_comm *state, const cco_neighbor_mates *mates)
{
    cco_neighbor_sends mine;
    if (!cco_neighbor_sends_of(mates, state->nodes.map, state->rank, &mine))
        topology_no_memory(state);
    long all[2] = {mine.ranks, mine.nodes};
    if (state->size > 1 &&
        cco_service_allreduce(MPI_IN_PLACE, all, 2, MPI_LONG, MPI_SUM, state->comm) != MPI_SUCCESS)
        cco_fatal("cannot count what communicator '%s' sends between nodes", state->name);
    return cco_neighbor_spare(&(cco_neighbor_sends){all[0], all[1]});
}

/* On one node nothing goes to others, and a rank alone on its node knows all that does. */
void cco_topology_find_mates(cco_comm *state)
{
    const cco_node_map *map = state->nodes.map;
    cco_neighbors *near = state->topology.near;
    if (!wants_mates(state))
        return;
    const int node = map->node[state->rank], ranks = cco_node_ranks(map, node);
    int *degrees = calloc(2 * (size_t)ranks, sizeof *degrees);
    if (degrees == NULL)
        topology_no_memory(state);
    cco_neighbor_lists in = {degrees, NULL}, out = {degrees + ranks, NULL};
    if (map->count > 1 && map->count < map->size) {
        cco_comm_channel(state); /* where the messages pass if the communicator has no name */
        ask_mates(state, node, &in, &out);
    }
    int *const told[2] = {in.peers, out.peers};
    if (map->count == map->size) {
        in = (cco_neighbor_lists){&near->degrees.in, (int *)(uintptr_t)near->in};
        out = (cco_neighbor_lists){&near->degrees.out, (int *)(uintptr_t)near->out};
    }
    near->mates = cco_neighbor_mates_new(map, node, near, &in, &out);
    if (near->mates == NULL)
        topology_no_memory(state);
    near->mates->spare = agree_to_spare(state, near->mates);
    free(told[0]);
    free(told[1]);
    free(degrees);
}

const char *cco_topology_refuses(const cco_comm *state, const cco_way *way, cco_coll coll)
{
    const cco_model *model = way->model;
    if (!cco_is_neighbor(coll) || model == &cco_model_mpi)
        return NULL;
    if (model == &cco_model_nonblock || model == &cco_model_persist)
        return cco_neighbor_defect(coll, &state->topology, false);
    return state->topology.one_sided ? "the graph has edges that only one of their ends knows"
                                     : NULL;
}

bool cco_topology_is_wrong(const cco_comm *state, cco_coll coll)
{
    return cco_is_neighbor(coll) && !cco_is_ours(coll) && state->topology.ruled >> coll & 1 &&
           cco_neighbor_defect(coll, &state->topology, false) != NULL;
}

void cco_topology_warn(const cco_comm *state, cco_coll coll)
{
    static bool warned;
    if (!cco_topology_is_wrong(state, coll) || !cco_world_reports() ||
        __atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        return;
    const cco_choice *choice = &state->chosen.of[coll].list[0];
    const bool wrong = choice->way.model == &cco_model_mpi &&
                       cco_neighbor_defect(coll, &state->topology, true) != NULL;
    cco_log(CCO_LOG_WARN,
            "%s, as on communicator '%s': there %s runs as %s%s; non-blocking and persistent calls"
            " of MPI_%s and others go to the MPI (docs/mpi-defects.md)",
            cco_neighbor_defect(coll, &state->topology, false), state->name,
            cco_coll_infos[coll].name, choice->impl, wrong ? ", which is wrong" : "",
            cco_coll_infos[coll].mpi_name);
}
