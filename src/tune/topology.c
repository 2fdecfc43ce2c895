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
    return cco_is_near(coll) && state->topology.ruled >> coll & 1 &&
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
