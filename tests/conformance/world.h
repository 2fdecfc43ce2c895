/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - p ranks that call one collective: their problems, their memory, and what must come out,
 * from the definitions in the MPI standard alone. */
#ifndef WORLD_H
#define WORLD_H

#include "algo/algo.h"
#include "graphs.h"
#include "simulator/sim.h"

enum {
    WORLD_ELEMENT = 8,      /* bytes of the largest element */
    WORLD_UNTOUCHED = 0xAA, /* memory that nobody has written */
};

typedef struct world_case {
    cco_coll coll;
    int p, root;
    int n;          /* elements of a block or of the vector; the scale of uneven ones */
    unsigned shape; /* uneven blocks: which, if not 0 */
    unsigned nodes; /* how ranks lie on nodes (world_node); 0: nobody knows */
    unsigned graph; /* of neighbourhood collectives, at random */
    bool in_place;
    bool commutative; /* reductions: a sum, or a composition of maps */
    bool gaps;        /* elements with gaps in the caller's memory */
    bool empties;     /* some messages have no bytes, as transports may need it (problem.h) */
    unsigned seed;    /* of the data */
} world_case;

typedef struct world {
    world_case c;
    size_t element;
    cco_layout layouts[CCO_BASES];
    cco_problem *problems;
    size_t *counts;    /* of the uneven collectives, for world_counts; else NULL */
    cco_node_map *map; /* NULL: nobody knows */
    struct graph graph;
    cco_neighbors *near; /* of each rank in the graph; NULL without one */
    cco_sim sim;
} world;

/* Ways of ranks to lie on nodes: 1 to WORLD_NODES - 1; beyond, any at random; with WORLD_LISTED the
 * node of each of 8 ranks, 3 bits each. */
enum { WORLD_NODES = 12, WORLD_LISTED = 1 << 24 };
int world_node(unsigned nodes, int p, int rank);

/* True if MPI knows MPI_IN_PLACE for the collective, and the sides can say it. */
bool world_in_place(cco_coll coll);

/* Problems without memory: enough to build schedules.  Aborts when memory runs out. */
world *world_new(const world_case *c);
void world_free(world *w);

/* The graph of a neighbourhood collective and what ranks know of it: part of the above. */
void world_make_graph(world *w);
void world_make_near_rows(world *w); /* its counts, when nodes are known */
void world_free_graph(world *w);

/* The first graph from `first` on, of some hundred, on which an algorithm can do such a case. */
unsigned world_graph_for(const cco_algo *algo, const world_case *c, unsigned first);

/* What cco_problem.counts of a rank has for algorithms that ask. */
const size_t *world_counts(const world *w, int rank);

/* Gives memory and data to every rank, afresh. */
void world_fill(world *w, unsigned seed);

/* Writes this rank's data for block `to` at a span. */
void world_fill_block(world *w, int rank, cco_span span, int to);

/* Compares with the definition.  True, or what is wrong is in w->sim.why. */
bool world_check(world *w);

#endif
