/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_many.c - see shm_many.h. */
#include "model/shm_many.h"

#include <stdlib.h>

#include "config/config.h"
#include "base/log.h"
#include "mpi/service.h"
#include "plan/bound.h"
#include "transport/shm/crossings.h"

/* As the user says; false if nothing is said. */
static bool impose_places(const cco_comm *state, cco_core_place *places)
{
    const cco_node_shape *shape = &cco_configured.node_shape;
    for (int i = 0; i < state->size && shape->cores > 0; i++)
        places[i] = cco_core_place_in(shape, i);
    return shape->cores > 0;
}

/* Where the cores of all ranks are; nobody knows if the MPI fails.  By a reduction, since it takes
 * each rank a few messages: some MPIs let every rank send to every other in an allgather. */
static void gather_places(cco_comm *state, cco_core_place *places)
{
    enum { WORDS = sizeof *places / sizeof(int32_t) };
    for (int i = 0; i < state->size; i++)
        places[i] = (cco_core_place){-1, -1};
    places[state->rank] = cco_core_place_here();
    if (cco_service_allreduce(MPI_IN_PLACE, places, state->size * WORDS, MPI_INT32_T, MPI_MAX,
                              state->comm) != MPI_SUCCESS)
        for (int i = 0; i < state->size; i++)
            places[i] = (cco_core_place){-1, -1};
}

static void shm_many_tell(const cco_shm_many *many, const cco_comm *state,
                          const cco_core_place *places)
{
    const cco_groups *g = &many->groups;
    if (cco_configured.log < CCO_LOG_INFO || state->rank != 0 || g->count == 0)
        return;
    const cco_crossings two = cco_crossings_levels(g, places, state->size);
    const cco_crossings one = cco_crossings_flat(places, state->size);
    cco_log(CCO_LOG_INFO,
            "communicator '%s' (%d ranks): %d groups of at most %d; a small allreduce moves %ld"
            " cache lines, %ld to another cache, %ld of them to another memory (without groups %ld,"
            " %ld, %ld)",
            state->name, state->size, g->count, g->most, two.lines, two.caches, two.memories,
            one.lines, one.caches, one.memories);
}

/* Makes equal groups on all ranks.  To go on without them on one rank would hang the others. */
static void make_groups(cco_shm_many *many, cco_comm *state)
{
    cco_core_place *places = malloc((size_t)state->size * sizeof *places);
    many->levels.scratch = malloc(cco_levels_scratch());
    if (places != NULL && !impose_places(state, places))
        gather_places(state, places);
    if (places == NULL || many->levels.scratch == NULL ||
        !cco_groups_make(&many->groups, places, state->size))
        cco_fatal("no memory for groups of ranks on communicator '%s'", state->name);
    shm_many_tell(many, state, places);
    free(places);
}

/* A share has the rings with the group, and then those of a leader, which others take no pages
 * for. */
static bool shm_many_make_segment(cco_shm_many *many, cco_comm *state)
{
    const cco_groups *groups = &many->groups;
    const int group = groups->group[state->rank], member = groups->member[state->rank];
    const size_t rings = cco_segment_pages(cco_levels_share());
    const cco_segment_part part = {.shares = groups->count * groups->most,
                                   .share = group * groups->most + member,
                                   .uses = member == 0 ? 2 * rings : rings};
    return cco_segment_make_parts(&many->segment, 2 * rings, cco_configured.shm_memory, &part,
                                  state->comm);
}

/* Who waits in the rings of two levels, and for whom. */
static void watch_rings(cco_shm_many *many, const cco_comm *state)
{
    const cco_groups *g = &many->groups;
    const int mine = g->group[state->rank];
    many->near = malloc((size_t)g->most * sizeof *many->near);
    many->far = malloc((size_t)g->count * sizeof *many->far);
    if (many->near == NULL || many->far == NULL)
        cco_fatal("no memory for groups of ranks on communicator '%s'", state->name);
    for (int i = 0; i < state->size; i++) {
        if (g->group[i] == mine)
            many->near[g->member[i]] = i;
        if (g->member[i] == 0)
            many->far[g->group[i]] = i;
    }
    many->watch.seats = many->segment.seats;
    many->levels.near_family = (cco_slot_family){.rings = many->levels.near,
                                                 .count = CCO_LEVELS_RINGS};
    many->levels.far_family = (cco_slot_family){
        .rings = many->levels.far, .count = g->member[state->rank] == 0 ? CCO_LEVELS_RINGS : 0};
    for (int i = 0; i < CCO_LEVELS_RINGS; i++) {
        many->levels.near[i].watch = many->levels.far[i].watch = &many->watch;
        many->levels.near[i].seats = many->near;
        many->levels.far[i].seats = many->far;
        many->levels.near[i].family = &many->levels.near_family;
        many->levels.far[i].family = &many->levels.far_family;
    }
}

static void open_levels(cco_shm_many *many, cco_comm *state)
{
    make_groups(many, state);
    if (many->groups.count == 0 || !shm_many_make_segment(many, state))
        return;
    cco_levels_open(&many->levels, &many->groups, state->rank, many->segment.memory,
                    many->segment.share, many->segment.share / 2);
    watch_rings(many, state);
}

void cco_shm_many_leave(cco_shm_many *many, int error)
{
    if (many->segment.memory == NULL)
        return;
    for (int i = 0; i < CCO_LEVELS_RINGS; i++) {
        cco_slot_ring_give_up(&many->levels.near[i], error);
        cco_slot_ring_give_up(&many->levels.far[i], error);
    }
    cco_segment_detach(&many->segment, error);
}

static bool has_levels(cco_shm_many *many, cco_comm *state)
{
    if (!many->asked) {
        many->asked = true;
        open_levels(many, state);
    }
    return many->segment.memory != NULL;
}

static int shm_many_run_again(cco_shm_many *many, cco_cached_call *cached, const cco_call *call)
{
    cached->binding.base[CCO_IN] = (char *)(uintptr_t)call->sendbuf;
    cached->binding.base[CCO_OUT] = call->recvbuf;
    return cco_levels_run(&many->levels, &cached->problem, &cached->binding);
}

static int shm_many_run_bound(cco_shm_many *many, const cco_bound *bound)
{
    int rc = cco_bound_pack(bound);
    many->behind = rc != MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = cco_levels_run(&many->levels, &bound->problem, &bound->binding);
    return rc == MPI_SUCCESS ? cco_bound_unpack(bound) : rc;
}

/* Whether a call is one for two levels, by what all ranks know. */
static bool shm_many_suits(cco_shm_many *many, cco_comm *state, const cco_problem *q)
{
    return cco_levels_takes(q->coll, q->bytes) && has_levels(many, state) &&
           cco_levels_fits(&many->groups, q);
}

bool cco_shm_many_run(cco_shm_many *many, cco_comm *state, const cco_way *way, const cco_call *call,
                      int *rc)
{
    cco_cached_call *cached = &many->cached[cco_cached_call_index(call)];
    cco_bound bound;
    if (!cco_levels_takes(call->coll, 0))
        return false;
    if (cco_cached_call_matches(cached, 0, way, call)) {
        *rc = shm_many_run_again(many, cached, call);
        return true;
    }
    *rc = cco_bound_make(&bound, state, call, true, &many->workspace);
    many->behind = *rc == MPI_ERR_NO_MEM;
    bound.binding.operation.fold = NULL; /* operands come in two steps */
    if (*rc != MPI_SUCCESS)
        return true;
    const bool runs = shm_many_suits(many, state, &bound.problem);
    if (runs)
        *rc = shm_many_run_bound(many, &bound);
    if (runs && *rc == MPI_SUCCESS)
        cco_cached_call_write(cached, 0, way, &bound, NULL);
    cco_workspace_trim(&many->workspace);
    return runs;
}

void cco_shm_many_free(cco_shm_many *many)
{
    for (int i = 0; i < CCO_CACHED_CALLS; i++)
        cco_cached_call_free(&many->cached[i]);
    cco_segment_free(&many->segment);
    cco_groups_free(&many->groups);
    cco_workspace_free(&many->workspace);
    free(many->levels.scratch);
    many->levels.scratch = NULL;
    free(many->near);
    free(many->far);
}
