/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_run.c - builds the schedules of all ranks, runs them in the simulator, and counts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/core_place.h"
#include "mpi/mpi_compat.h"
#include "explain.h"
#include "simulator/sim.h"

static void refuse(explained *x, int rank, int error)
{
    x->too_large = error == MPI_ERR_NO_MEM;
    if (x->too_large)
        snprintf(x->why, sizeof x->why,
                 "does not fit into memory: try fewer ranks or larger pieces");
    else
        snprintf(x->why, sizeof x->why, "rank %d: the builder refused (class %d)", rank, error);
}

static void count(explain_rank *rank, const cco_sched *s)
{
    for (int i = 0; i < s->count; i++) {
        const cco_step *step = &s->steps[i];
        const bool sends = step->kind == CCO_STEP_SEND || step->kind == CCO_STEP_PUT;
        const bool receives = step->kind == CCO_STEP_RECV || step->kind == CCO_STEP_GET;
        rank->figures[SENT] += sends;
        rank->figures[RECEIVED] += receives;
        rank->figures[BYTES_SENT] += sends ? step->a.n : 0;
        rank->figures[BYTES_RECEIVED] += receives ? step->b.n : 0;
        rank->figures[COPIED] += step->kind == CCO_STEP_COPY ? step->a.n : 0;
        rank->figures[REDUCED] += step->kind == CCO_STEP_REDUCE ? step->a.n : 0;
    }
    rank->figures[SCRATCH] = s->scratch;
}

static void count_crossing(explained *x, const explain_options *o, int rank, const cco_step *step)
{
    const cco_node_map *map = o->nodes;
    if (o->node.cores > 0) {
        const cco_core_place here = cco_core_place_in(&o->node, rank);
        const cco_core_place there = cco_core_place_in(&o->node, step->peer);
        x->caches += there.cache != here.cache;
        x->memories += there.memory != here.memory;
    }
    if (map != NULL && map->node[rank] != map->node[step->peer]) {
        x->messages_between++;
        x->bytes_between += step->kind == CCO_STEP_GET ? step->b.n : step->a.n;
    }
}

static void count_crossings(explained *x, const explain_options *o, int rank, const cco_sched *s)
{
    for (int i = 0; i < s->count; i++) {
        const cco_step_kind kind = s->steps[i].kind;
        if (kind == CCO_STEP_SEND || kind == CCO_STEP_PUT || kind == CCO_STEP_GET)
            count_crossing(x, o, rank, &s->steps[i]);
    }
}

/* `o` says on which nodes ranks are. */
static bool build(explained *x, cco_sim_rank *rank, const cco_algo *algo, even *e, int i,
                  const long *params, const explain_options *o)
{
    cco_problem q = even_problem(e, i);
    q.nodes = o->nodes;
    for (int k = 0; k < CCO_PARAMS; k++)
        q.params[k] = params[k];
    q.counts = cco_algo_shares(algo, q.coll) ? even_counts(e, &q) : NULL;
    cco_sched *s = cco_sched_new(&q);
    x->schedules[i] = s;
    if (s != NULL)
        algo->build(s, &q);
    if (s == NULL || cco_sched_error(s) != MPI_SUCCESS) {
        refuse(x, i, s == NULL ? MPI_ERR_NO_MEM : cco_sched_error(s));
        return false;
    }
    rank->sched = s;
    rank->memory[CCO_IN].size = even_memory(e, &q.in);
    rank->memory[CCO_OUT].size = even_memory(e, &q.out);
    rank->memory[CCO_TMP].size = s->scratch;
    count(&x->ranks[i], s);
    return true;
}

static void run(explained *x, cco_sim *sim)
{
    if (!cco_sim_run(sim))
        snprintf(x->why, sizeof x->why, "%s", sim->why);
    for (int i = 0; i < x->size; i++)
        x->ranks[i].figures[ROUNDS] = (uint64_t)sim->ranks[i].rounds;
    x->chain = sim->chain;
    x->messages = sim->messages;
    x->bytes = sim->bytes;
}

void explain_run(explained *x, const cco_algo *algo, const long *params, even *e,
                 const explain_options *o)
{
    const size_t size = (size_t)e->size;
    cco_problem first = even_problem(e, 0);
    first.nodes = o->nodes;
    for (int k = 0; k < CCO_PARAMS; k++)
        first.params[k] = params[k];
    *x = (explained){.size = e->size, .reason = cco_algo_refuses(algo, &first)};
    if (x->reason != NULL)
        return;
    cco_sim sim = {.size = e->size, .count_only = true};
    sim.ranks = calloc(size, sizeof *sim.ranks);
    x->schedules = calloc(size, sizeof *x->schedules);
    x->ranks = calloc(size, sizeof *x->ranks);
    bool fine = sim.ranks != NULL && x->schedules != NULL && x->ranks != NULL;
    if (!fine)
        refuse(x, 0, MPI_ERR_NO_MEM);
    for (int i = 0; fine && i < e->size; i++)
        fine = build(x, &sim.ranks[i], algo, e, i, params, o);
    for (int i = 0; fine && i < e->size; i++)
        count_crossings(x, o, i, x->schedules[i]);
    if (fine)
        run(x, &sim);
    free(sim.ranks);
}

void explain_free(explained *x)
{
    for (int i = 0; x->schedules != NULL && i < x->size; i++)
        cco_sched_free((cco_sched *)(uintptr_t)x->schedules[i]);
    free(x->schedules);
    free(x->ranks);
}
