/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor.c - see near.h. */
#include "algo/pattern/neighbor.h"

#include <stdlib.h>

cco_span cco_neighbor_given(const cco_problem *q, int k)
{
    return cco_coll_infos[q->coll].in == CCO_NEAR ? cco_block(q, &q->in, k) : cco_whole(&q->in);
}

void cco_neighbor_loops(cco_sched *s, const cco_problem *q)
{
    const cco_neighbors *near = q->near;
    int turn = 0;
    for (int k = 0; k < near->degrees.out; k++) {
        if (near->out[k] != q->rank)
            continue;
        while (turn < near->degrees.in && near->in[cco_in_turn(near, turn)] != q->rank)
            turn++;
        if (turn < near->degrees.in) /* else the graph is none, as the MPI should have said */
            cco_copy(s, cco_neighbor_given(q, k), cco_block(q, &q->out, cco_in_turn(near, turn++)));
    }
}

void cco_neighbor_linear(cco_sched *s, const cco_problem *q)
{
    const cco_neighbors *near = q->near;
    for (int turn = 0; turn < near->degrees.in; turn++) {
        const int block = cco_in_turn(near, turn), peer = near->in[block];
        if (peer != CCO_NO_PEER && peer != q->rank)
            cco_recv(s, peer, cco_block(q, &q->out, block));
    }
    for (int k = 0; k < near->degrees.out; k++)
        if (near->out[k] != CCO_NO_PEER && near->out[k] != q->rank)
            cco_send(s, near->out[k], cco_neighbor_given(q, k));
    cco_neighbor_loops(s, q);
}

const char *cco_neighbor_stencil_refuses(const cco_problem *q)
{
    return q->near != NULL && q->near->stencil == NULL
               ? "the topology is no stencil of all ranks around one in two to four dimensions"
               : NULL;
}

/* An edge, and when it has its turn; `far` is the distance of the peer. */
typedef struct edge {
    int far, turn, block;
} edge;

static int by_distance(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    return x->far != y->far ? x->far - y->far : x->turn - y->turn;
}

/* Fills a list; returns its length. */
static int list_edges(const cco_problem *q, bool given, edge *edges)
{
    const cco_neighbors *near = q->near;
    const int degree = given ? near->degrees.out : near->degrees.in;
    int count = 0;
    for (int turn = 0; turn < degree; turn++) {
        const int block = given ? turn : cco_in_turn(near, turn);
        const int peer = given ? near->out[block] : near->in[block];
        const int far = (peer - q->rank + q->size) % q->size;
        if (peer != CCO_NO_PEER && far > 0)
            edges[count++] = (edge){far, turn, block};
    }
    return count;
}

const cco_neighbor_edges *cco_neighbor_by_peer(cco_sched *s, const cco_problem *q, bool given)
{
    const size_t room = 1 + (size_t)(given ? q->near->degrees.out : q->near->degrees.in);
    edge *edges = cco_builder_memory(s, room * sizeof *edges);
    cco_neighbor_edges *list = cco_builder_memory(s, room * sizeof *list);
    int *blocks = cco_builder_memory(s, room * sizeof *blocks), last = -1;
    if (edges == NULL || list == NULL || blocks == NULL)
        return NULL;
    const int count = list_edges(q, given, edges);
    qsort(edges, (size_t)count, sizeof *edges, by_distance);
    for (int i = 0; i < count; i++) {
        blocks[i] = edges[i].block;
        if (i == 0 || edges[i].far != edges[i - 1].far)
            list[++last] = (cco_neighbor_edges){(q->rank + edges[i].far) % q->size, 0, &blocks[i]};
        list[last].count++;
    }
    list[last + 1] = (cco_neighbor_edges){.count = 0};
    return list;
}
