/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c - see sharing.h. */
#include "sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/pattern/node_counts.h"
#include "sched/neighbor_mates.h"

static const cco_layout bytes[CCO_BASES] = {{.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true}};

static void *room(size_t n)
{
    void *memory = calloc(n + 1, 1);
    if (memory == NULL)
        abort();
    return memory;
}

/* Bytes that a rank tells. */
static size_t told(const world *w, int rank)
{
    const cco_problem *q = &w->problems[rank];
    return sizeof(size_t) *
           (q->near != NULL ? cco_neighbor_row_length(q->near->mates) : 2 * (size_t)q->size);
}

/* As the library has it: what a rank tells lies where the counts begin, and a leader's stay. */
static cco_problem sharing_problem(const world *w, int rank)
{
    const size_t n = told(w, rank);
    const cco_side mine = {.base = CCO_OUT, .blocks = 1, .layout = CCO_OUT, .each = n};
    cco_side all = mine;
    all.blocks = cco_node_ranks(w->map, w->map->node[rank]);
    all.pitch = (ptrdiff_t)n;
    return (cco_problem){.coll = CCO_GATHER,
                         .rank = rank,
                         .size = w->c.p,
                         .commutative = true,
                         .bytes = n,
                         .unit = 1,
                         .nodes = w->map,
                         .in = mine,
                         .out = all,
                         .layouts = bytes};
}

static void give(const world *w, int rank, cco_sim_rank *r)
{
    cco_memory *out = &r->memory[CCO_OUT];
    out->size = cco_count_of_counts(&w->problems[rank]) * sizeof(size_t);
    out->data = room(out->size);
    out->written = room(out->size);
    memcpy(out->data, world_counts(w, rank), told(w, rank));
    memset(out->written, 1, told(w, rank));
    r->memory[CCO_TMP] = (cco_memory){.size = r->sched->scratch,
                                      .data = room(r->sched->scratch),
                                      .written = room(r->sched->scratch)};
}

static bool sharing_check(const world *w, cco_sim *sim)
{
    for (int i = 0; i < sim->size && sim->why[0] == '\0'; i++) {
        const cco_memory *out = &sim->ranks[i].memory[CCO_OUT];
        if (memcmp(out->data, world_counts(w, i), out->size) != 0)
            snprintf(sim->why, sizeof sim->why, "rank %d has wrong counts", i);
    }
    return sim->why[0] == '\0';
}

bool sharing_works(world *w)
{
    cco_problem *problems = room((size_t)w->c.p * sizeof *problems);
    cco_sim sim = {.ranks = room((size_t)w->c.p * sizeof *sim.ranks), .size = w->c.p};
    bool fine = true;
    for (int i = 0; i < w->c.p; i++) {
        problems[i] = sharing_problem(w, i);
        cco_sched *s = cco_sched_new(&problems[i]);
        cco_node_counts.build(s, &problems[i]);
        sim.ranks[i].sched = s;
        fine = fine && cco_sched_error(s) == 0;
        give(w, i, &sim.ranks[i]);
    }
    if (!fine)
        snprintf(sim.why, sizeof sim.why, "the builder refused");
    else
        fine = cco_sim_run(&sim) && sharing_check(w, &sim);
    snprintf(w->sim.why, sizeof w->sim.why, "counts: %.200s", sim.why);
    for (int i = 0; i < w->c.p; i++) {
        for (int base = 0; base < CCO_BASES; base++) {
            free(sim.ranks[i].memory[base].data);
            free(sim.ranks[i].memory[base].written);
        }
        cco_sched_free((cco_sched *)(uintptr_t)sim.ranks[i].sched);
    }
    free(sim.ranks);
    free(problems);
    return fine;
}
