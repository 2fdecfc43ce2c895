/* SPDX-License-Identifier: BSD-3-Clause */
/* world_graph.c - the graph of neighbourhood collectives, as the library has it. */
#include <stdlib.h>

#include "sched/neighbor_counts.h"
#include "sched/neighbor_mates.h"
#include "simulator/all_neighbors.h"
#include "world.h"

static void *room(size_t n)
{
    void *made = calloc(1, n);
    if (made == NULL)
        abort();
    return made;
}

void world_make_graph(world *w)
{
    _Static_assert((int)GRAPH_NOBODY == (int)CCO_NO_PEER, "no rank is one number");
    graph_by_chance(&w->graph, w->c.p, w->c.graph, true);
    w->near = room((size_t)w->c.p * sizeof *w->near);
    for (int i = 0; i < w->c.p; i++)
        w->near[i] = (cco_neighbors){.degrees = {w->graph.in[i].count, w->graph.out[i].count},
                                     .grid = w->graph.kind == GRAPH_CART,
                                     .in = w->graph.in[i].peer,
                                     .out = w->graph.out[i].peer};
    cco_all_neighbors_give_stencil(w->near, w->c.p);
}

void world_make_near_rows(world *w)
{
    const size_t p = (size_t)w->c.p;
    w->counts = room(2 * p * p * sizeof *w->counts);
    for (int i = 0; i < w->c.p; i++) {
        const int first = w->map->first[w->map->node[i]], place = w->map->place[i];
        cco_neighbor_row(&w->problems[i],
                         w->counts + 2 * p * (size_t)first +
                             (size_t)place * cco_neighbor_row_length(w->near[i].mates));
    }
}

void world_free_graph(world *w)
{
    if (w->near == NULL)
        return;
    for (int i = 0; i < w->c.p; i++) {
        free(w->near[i].stencil);
        free(w->near[i].mates);
    }
    graph_free(&w->graph);
    free(w->near);
}

unsigned world_graph_for(const cco_algo *algo, const world_case *c, unsigned first)
{
    enum { TRIES = 500 };
    for (unsigned i = 0; cco_is_neighbor(c->coll) && i < TRIES; i++) {
        world_case with = *c;
        with.graph = first + i;
        world *w = world_new(&with);
        const bool refused = cco_algo_refuses(algo, &w->problems[0]) != NULL;
        world_free(w);
        if (!refused)
            return with.graph;
    }
    return 0;
}
