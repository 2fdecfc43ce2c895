/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h. */
#include "nodes.h"

bool knows_nodes(const cco_algo *algo, cco_coll coll)
{
    int i = 0;
    while (cco_algo_of(coll, i) != NULL && cco_algo_of(coll, i) != algo)
        i++;
    return cco_algo_of(coll, i) == NULL;
}

typedef struct visitor {
    const cco_algo *algo;
    void (*visit)(const cco_algo *algo, const world_case *c);
} visitor;

/* Each rank from `rank` on begins the next node, or is on one of the `count` before. */
static void each_partition(const visitor *v, world_case *c, int rank, unsigned nodes, int count)
{
    if (rank == c->p) {
        c->nodes = WORLD_LISTED | nodes;
        v->visit(v->algo, c);
        return;
    }
    for (int node = 0; node <= count; node++)
        each_partition(v, c, rank + 1, nodes | (unsigned)node << 3 * rank,
                       node < count ? count : count + 1);
}

void each_division(const cco_algo *algo, const world_case *base,
                   void (*visit)(const cco_algo *algo, const world_case *c))
{
    enum { FEW = 6, PAIRS = 3, GROWING = 8, IN_TURN = 10 };
    const visitor v = {algo, visit};
    world_case c = *base;
    if (!knows_nodes(algo, c.coll)) {
        visit(algo, &c);
    } else if (c.p <= FEW && c.n == 7) {
        each_partition(&v, &c, 0, 0, 0);
    } else {
        const unsigned some = 1u << PAIRS | 1u << GROWING | 1u << IN_TURN;
        for (c.nodes = 1; c.nodes < WORLD_NODES; c.nodes++)
            if (c.p <= FEW || some >> c.nodes & 1)
                visit(algo, &c);
    }
}
