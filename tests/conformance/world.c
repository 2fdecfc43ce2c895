/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c - see world.h. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/neighbor_mates.h"
#include "simulator/all_neighbors.h"

/* From so many elements on, messages between nodes go in pieces of so many bytes. */
enum { MANY = 64, PIECE = 24 };

static void *room(size_t n)
{
    void *memory = calloc(n + 1, 1);
    if (memory == NULL)
        abort();
    return memory;
}

static bool is(cco_coll coll, int property)
{
    return cco_coll_infos[coll].properties & property;
}

/* Algorithms never see an alltoall in place: a copy is sent. */
bool world_in_place(cco_coll coll)
{
    return is(coll, CCO_REDUCTION | CCO_GATHERS | CCO_SCATTERS) && cco_takes_in_place(coll);
}

static bool uneven(cco_coll coll)
{
    return is(coll, CCO_COUNTS);
}

/* None, all of the scale, a power of two, or anything below. */
static size_t shaped(const world_case *c, int from, int to)
{
    uint32_t x = c->shape + (uint32_t)from * 2654435761u + (uint32_t)to * 2246822519u;
    x = (x ^ x >> 15) * 739982445u;
    x = (x ^ x >> 12) * 695872825u;
    const uint32_t n = (uint32_t)c->n, any = (x >> 8) % (n + 1);
    uint32_t power = 1;
    while (power <= any / 2)
        power *= 2;
    switch (x % 8) {
    case 0:
    case 1:
        return 0;
    case 2:
        return n;
    case 3:
        return n > 0 ? power : 0;
    default:
        return any;
    }
}

/* Elements of the block that goes from rank `from` to rank `to`, or is its block `to`. */
static size_t elements(const world_case *c, int from, int to)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    const bool from_all = info->in == CCO_ONE, to_all = info->out == CCO_ONE;
    if (!uneven(c->coll))
        return info->out == CCO_NONE ? 0 : (size_t)c->n;
    if (c->shape != 0)
        return shaped(c, to_all ? 0 : from, from_all ? 0 : to);
    if (from_all)
        return (size_t)(from % 3 * c->n + from % 2);
    if (to_all)
        return (size_t)(to % 3 * c->n + to % 2);
    return (size_t)((3 * from + 5 * to + c->n) % (c->n + 2));
}

/* How many blocks the buffers of a rank have. */
static int blocks_of(const world *w, int rank, bool in)
{
    const int shape = in ? cco_coll_infos[w->c.coll].in : cco_coll_infos[w->c.coll].out;
    if (shape == CCO_NEAR)
        return (in ? w->graph.out : w->graph.in)[rank].count;
    if (!in && w->near != NULL && !cco_neighbors_any_source(&w->near[rank]))
        return 0; /* what nobody sends is not reduced */
    return cco_blocks(shape, rank == w->c.root, w->c.p);
}

/* Elements of block `i` of a side.  Those of no neighbour may be described in any way. */
static size_t elements_of(const world *w, int rank, bool in, int i)
{
    const struct graph_ends *ends = w->near != NULL ? &w->graph.in[rank] : NULL;
    if (in || ends == NULL)
        return in ? elements(&w->c, rank, i) : elements(&w->c, i, rank);
    return ends->peer[i] == GRAPH_NOBODY ? (size_t)(i % 3)
                                         : elements(&w->c, ends->peer[i], ends->slot[i]);
}

/* Where a collective has counts: not for the one block that a rank gives to all, or gets. */
static bool has_list(const world *w, bool in, int blocks)
{
    const cco_coll_info *info = &cco_coll_infos[w->c.coll];
    return blocks > 1 || (in ? info->in : info->out) == CCO_NEAR;
}

/* A side with room for its blocks one after the other; uneven ones in backward order, an element
 * apart, where the collective has displacements. */
static cco_side make_side(world *w, int rank, cco_base base, int blocks)
{
    const bool in = base == CCO_IN;
    const ptrdiff_t extent = w->layouts[base].extent;
    cco_side side = {.base = base, .blocks = blocks, .layout = (int)base};
    if (blocks == 0) /* the caller may have left anything in its arguments */
        return side;
    side.each = w->element * (in ? elements(&w->c, rank, rank) : elements(&w->c, rank, rank));
    if (uneven(w->c.coll) && has_list(w, in, blocks)) {
        size_t *n = room((size_t)blocks * sizeof *n);
        ptrdiff_t *at = room((size_t)blocks * sizeof *at), next = 0;
        for (int k = 0; k < blocks; k++) {
            const int i = w->c.coll == CCO_REDUCE_SCATTER ? k : blocks - 1 - k;
            n[i] = w->element * elements_of(w, rank, in, i);
            at[i] = next;
            next += (ptrdiff_t)(n[i] / w->element + (w->c.coll != CCO_REDUCE_SCATTER)) * extent;
        }
        side.n = n;
        side.at = at;
    }
    side.pitch = (ptrdiff_t)(side.each / w->element) * extent;
    return side;
}

static size_t side_memory(const world *w, const cco_side *side)
{
    const cco_layout *layout = &w->layouts[side->layout];
    ptrdiff_t end = 0;
    for (int i = 0; i < side->blocks; i++) {
        const cco_span block = cco_block(&w->problems[0], side, i);
        const ptrdiff_t its = block.at + (ptrdiff_t)(block.n / layout->size) * layout->extent;
        end = its > end ? its : end;
    }
    return (size_t)end;
}

/* The block of this rank among those of the other buffer. */
static cco_side own_block(const cco_problem *q, const cco_side *side)
{
    const cco_span own = cco_block(q, side, q->rank);
    return (cco_side){side->base, 1, own.layout, own.at, own.n, 0, NULL, NULL};
}

/* In place, a side lies in the other buffer, on ranks that have both. */
static void put_in_place(cco_problem *q)
{
    if (q->in.blocks == 0 || (q->out.blocks == 0 && q->near == NULL))
        return;
    if (is(q->coll, CCO_GATHERS))
        q->in = own_block(q, &q->out);
    else if (is(q->coll, CCO_SCATTERS))
        q->out = own_block(q, &q->in);
    else {
        q->in.base = CCO_OUT;
        q->in.layout = CCO_OUT;
    }
}

static void make_problem(world *w, int rank)
{
    const world_case *c = &w->c;
    cco_problem *q = &w->problems[rank];
    *q = (cco_problem){.coll = c->coll,
                       .rank = rank,
                       .size = c->p,
                       .root = c->root,
                       .near = w->near != NULL ? &w->near[rank] : NULL,
                       .commutative = !is(c->coll, CCO_REDUCTION) || c->commutative,
                       .unit = is(c->coll, CCO_REDUCTION) ? w->element : 1,
                       .empties = c->empties,
                       .layouts = w->layouts};
    q->bytes = uneven(c->coll) || w->near != NULL ? 0 : w->element * elements(c, rank, rank);
    q->in = make_side(w, rank, CCO_IN, blocks_of(w, rank, true));
    q->out = make_side(w, rank, CCO_OUT, blocks_of(w, rank, false));
    if (c->in_place)
        put_in_place(q);
}

/* What each rank of an alltoallv gives and takes, node after node. */
static void make_rows(world *w)
{
    if (w->near != NULL) {
        world_make_near_rows(w);
        return;
    }
    const size_t p = (size_t)w->c.p;
    size_t *row = w->counts = room(2 * p * p * sizeof *w->counts);
    for (size_t i = 0; i < p; i++) {
        const int rank = w->map->ranks[i];
        for (int other = 0; other < w->c.p; other++) {
            row[other] = w->element * elements(&w->c, rank, other);
            row[p + (size_t)other] = w->element * elements(&w->c, other, rank);
        }
        row += 2 * p;
    }
}

const size_t *world_counts(const world *w, int rank)
{
    const cco_node_map *map = w->map;
    if (is(w->c.coll, CCO_ROOTED) || w->counts == NULL)
        return w->counts;
    if (w->near != NULL)
        return w->counts + 2 * (size_t)w->c.p * (size_t)map->first[map->node[rank]] +
               (size_t)map->place[rank] * cco_neighbor_row_length(w->near[rank].mates);
    return w->counts +
           2 * (size_t)w->c.p * (size_t)(map->first[map->node[rank]] + map->place[rank]);
}

/* What the root of a gatherv or scatterv knows, or the leaders of an alltoallv. */
static void make_counts(world *w)
{
    const world_case *c = &w->c;
    const bool gathers = is(c->coll, CCO_GATHERS);
    const bool near = w->near != NULL && cco_coll_infos[c->coll].in == CCO_NEAR;
    if (w->map != NULL &&
        (near || (uneven(c->coll) &&
                  !is(c->coll, CCO_ROOTED | CCO_GATHERS | CCO_REDUCTION | CCO_NEIGHBORS))))
        make_rows(w);
    if (!uneven(c->coll) || !is(c->coll, CCO_ROOTED))
        return;
    w->counts = room((size_t)c->p * sizeof *w->counts);
    for (int i = 0; i < c->p; i++)
        w->counts[i] = w->element * (gathers ? elements(c, i, c->root) : elements(c, c->root, i));
}

static void add_maps(const void *from, void *into, size_t n)
{
    uint32_t a[2], b[2];
    (void)n; /* always WORLD_ELEMENT; a size known here makes the copies cheap */
    memcpy(a, from, sizeof a);
    memcpy(b, into, sizeof b);
    b[0] += a[0];
    b[1] += a[1];
    memcpy(into, b, sizeof b);
}

/* x -> a x + b, composed: associative, not commutative. */
static void compose_maps(const void *from, void *into, size_t n)
{
    uint32_t left[2], right[2];
    (void)n;
    memcpy(left, from, sizeof left);
    memcpy(right, into, sizeof right);
    right[1] = left[0] * right[1] + left[1];
    right[0] = left[0] * right[0];
    memcpy(into, right, sizeof right);
}

/* Nodes of 1, 2, 3, ... ranks. */
static int growing(int rank)
{
    int node = 0;
    for (int first = 1; first <= rank; first += node + 1)
        node++;
    return node;
}

int world_node(unsigned nodes, int p, int rank)
{
    const uint32_t x = (nodes + (uint32_t)rank * 2654435761u) * 2246822519u;
    if (nodes & WORLD_LISTED)
        return (int)(nodes >> 3 * rank & 7);
    switch (nodes) {
    case 1:
        return rank;
    case 2:
        return 0;
    case 3:
        return rank / 2;
    case 4:
        return rank / 4;
    case 5:
        return rank / 3;
    case 6:
        return rank % 2;
    case 7:
        return rank % 3;
    case 8:
        return growing(rank);
    case 9:
        return rank < p / 3;
    case 10:
        return p > 1 ? rank % (p / 2) : 0;
    case 11:
        return 2 * rank / p;
    default:
        return (int)((x ^ x >> 15) % (1 + nodes % 5));
    }
}

static void make_map(world *w)
{
    uint64_t *keys = room((size_t)w->c.p * sizeof *keys);
    for (int i = 0; i < w->c.p; i++)
        keys[i] = (uint64_t)world_node(w->c.nodes, w->c.p, i) * 0x9e3779b97f4a7c15u;
    w->map = cco_node_map_new(keys, w->c.p);
    if (w->c.n >= MANY)
        w->map->piece = PIECE;
    if (w->near != NULL && !cco_all_neighbors_give_mates(w->near, w->map))
        abort();
    for (int i = 0; i < w->c.p; i++) {
        w->problems[i].nodes = w->map;
        w->problems[i].pieces = true;
    }
    free(keys);
}

world *world_new(const world_case *c)
{
    world *w = room(sizeof *w);
    w->c = *c;
    w->element = is(c->coll, CCO_REDUCTION) ? WORLD_ELEMENT : 1;
    const ptrdiff_t size = (ptrdiff_t)w->element;
    w->layouts[CCO_IN] = w->layouts[CCO_OUT] = (cco_layout){
        .size = w->element, .extent = c->gaps ? size + 3 : size, .dense = !c->gaps};
    /* Types may differ between the sides, and from scratch. */
    if (c->gaps && !is(c->coll, CCO_REDUCTION))
        w->layouts[CCO_IN] = (cco_layout){.size = w->element, .extent = size + 1};
    w->layouts[CCO_TMP] = is(c->coll, CCO_REDUCTION)
                              ? w->layouts[CCO_OUT]
                              : (cco_layout){.size = 1, .extent = 1, .dense = true};
    w->problems = room((size_t)c->p * sizeof *w->problems);
    w->sim.ranks = room((size_t)c->p * sizeof *w->sim.ranks);
    w->sim.size = c->p;
    w->sim.reduce = c->commutative ? add_maps : compose_maps;
    if (cco_is_neighbor(c->coll))
        world_make_graph(w);
    for (int i = 0; i < c->p; i++)
        make_problem(w, i);
    if (c->nodes != 0)
        make_map(w);
    make_counts(w);
    return w;
}

static void free_memory(cco_memory *memory)
{
    free(memory->data);
    free(memory->written);
    *memory = (cco_memory){0};
}

void world_free(world *w)
{
    for (int i = 0; i < w->c.p; i++) {
        const cco_problem *q = &w->problems[i];
        free((void *)(uintptr_t)q->in.n);
        free((void *)(uintptr_t)q->in.at);
        free((void *)(uintptr_t)q->out.n);
        free((void *)(uintptr_t)q->out.at);
        for (int base = 0; base < CCO_BASES; base++)
            free_memory(&w->sim.ranks[i].memory[base]);
    }
    free(w->problems);
    cco_node_map_drop(w->map);
    free(w->counts);
    free(w->sim.ranks);
    world_free_graph(w);
    free(w);
}

static void give(cco_memory *memory, size_t size)
{
    free_memory(memory);
    memory->size = size;
    memory->data = room(size);
    memory->written = room(size);
    memset(memory->data, WORLD_UNTOUCHED, size);
}

void world_fill(world *w, unsigned seed)
{
    w->c.seed = seed;
    for (int rank = 0; rank < w->c.p; rank++) {
        const cco_problem *q = &w->problems[rank];
        cco_sim_rank *r = &w->sim.ranks[rank];
        cco_side in = make_side(w, rank, CCO_IN, blocks_of(w, rank, true));
        cco_side out = make_side(w, rank, CCO_OUT, blocks_of(w, rank, false));
        size_t out_size = side_memory(w, &out);
        if (q->in.base == CCO_OUT && side_memory(w, &q->in) > out_size)
            out_size = side_memory(w, &q->in);
        give(&r->memory[CCO_IN], side_memory(w, &in));
        give(&r->memory[CCO_OUT], out_size);
        give(&r->memory[CCO_TMP], r->sched != NULL ? r->sched->scratch : 0);
        memset(r->memory[CCO_TMP].written, w->c.coll == CCO_BARRIER, r->memory[CCO_TMP].size);
        free((void *)(uintptr_t)in.n);
        free((void *)(uintptr_t)in.at);
        free((void *)(uintptr_t)out.n);
        free((void *)(uintptr_t)out.at);
        for (int to = 0; to < q->in.blocks; to++)
            world_fill_block(w, rank, cco_block(q, &q->in, to), to);
        if (q->coll == CCO_BCAST && rank == q->root)
            world_fill_block(w, rank, cco_whole(&q->out), 0);
    }
}
