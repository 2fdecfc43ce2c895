/* SPDX-License-Identifier: BSD-3-Clause */
/* graphs.c - see graphs.h. */
#include "graphs.h"

#include <stdlib.h>

static void *room(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes + 1);
    if (memory == NULL)
        abort();
    return memory;
}

static struct graph_ends *ends_of_all(int size)
{
    struct graph_ends *ends = room(NULL, (size_t)size * sizeof *ends);
    for (int i = 0; i < size; i++)
        ends[i] = (struct graph_ends){0};
    return ends;
}

void graph_begin(struct graph *g, enum graph_kind kind, int size)
{
    *g = (struct graph){.kind = kind, .size = size};
    g->in = ends_of_all(size);
    g->out = ends_of_all(size);
}

void graph_add(struct graph_ends *ends, int peer)
{
    const size_t n = (size_t)ends->count + 1;
    ends->peer = room(ends->peer, n * sizeof *ends->peer);
    ends->slot = room(ends->slot, n * sizeof *ends->slot);
    ends->peer[n - 1] = peer;
    ends->slot[n - 1] = GRAPH_NOBODY;
    ends->count++;
}

/* The place of the `nth` edge to a rank. */
static int nth_to(const struct graph_ends *ends, int rank, int nth)
{
    for (int i = 0; i < ends->count; i++)
        if (ends->peer[i] == rank && nth-- == 0)
            return i;
    return GRAPH_NOBODY;
}

/* "The k-th edge": MPI 4.1, section 8.6. */
void graph_match(struct graph *g)
{
    for (int rank = 0; rank < g->size; rank++) {
        struct graph_ends *in = &g->in[rank];
        for (int i = 0; i < in->count; i++) {
            int before = 0;
            for (int k = 0; k < i; k++)
                before += in->peer[k] == in->peer[i];
            if (in->peer[i] != GRAPH_NOBODY)
                in->slot[i] = nth_to(&g->out[in->peer[i]], rank, before);
        }
    }
}

/* The rank one step from another in a dimension, by coordinates. */
static int step(const struct graph *g, int rank, int dim, int by)
{
    int stride = 1;
    for (int d = g->ndims - 1; d > dim; d--)
        stride *= g->dims[d];
    const int n = g->dims[dim], at = rank / stride % n, to = at + by;
    if ((to < 0 || to >= n) && !g->periods[dim])
        return GRAPH_NOBODY;
    return rank + ((to + n) % n - at) * stride;
}

/* First the neighbour below, then that above, of each dimension.  What a rank sends downwards
 * arrives as what comes from above (example 8.10), and so block s as block s^1. */
void graph_of_grid(struct graph *g, int ndims, const int *dims, const int *periods)
{
    int size = 1;
    for (int d = 0; d < ndims; d++)
        size *= dims[d];
    graph_begin(g, GRAPH_CART, size);
    g->ndims = ndims;
    for (int d = 0; d < ndims; d++) {
        g->dims[d] = dims[d];
        g->periods[d] = periods[d];
    }
    for (int rank = 0; rank < size; rank++)
        for (int s = 0; s < 2 * ndims; s++) {
            const int peer = step(g, rank, s / 2, s % 2 == 0 ? -1 : 1);
            graph_add(&g->out[rank], peer);
            graph_add(&g->in[rank], peer);
            g->in[rank].slot[s] = peer == GRAPH_NOBODY ? GRAPH_NOBODY : s ^ 1;
        }
}

/* ---- at random ---- */

/* S. Vigna's splitmix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int below(uint64_t *state, int n)
{
    return (int)(next(state) % (uint64_t)n);
}

/* Each prime factor goes to some dimension; others stay 1. */
static void some_shape(int size, int ndims, int *dims, int *periods, uint64_t *state)
{
    for (int d = 0; d < ndims; d++) {
        dims[d] = 1;
        periods[d] = below(state, 4) > 0;
    }
    for (int left = size, factor = 2; left > 1;) {
        if (left % factor == 0) {
            dims[below(state, ndims)] *= factor;
            left /= factor;
        } else
            factor++;
    }
}

static void some_grid(struct graph *g, int size, uint64_t *state)
{
    int dims[GRAPH_DIMS], periods[GRAPH_DIMS];
    const int ndims = 1 + below(state, GRAPH_DIMS);
    some_shape(size, ndims, dims, periods, state);
    graph_of_grid(g, ndims, dims, periods);
}

static void swap(int *a, int *b)
{
    const int kept = *a;
    *a = *b;
    *b = kept;
}

static void shuffle(struct graph_ends *ends, uint64_t *state)
{
    for (int i = ends->count - 1; i > 0; i--)
        swap(&ends->peer[i], &ends->peer[below(state, i + 1)]);
}

/* An edge within a part; parts are the ranks that are equal modulo their number. */
static void some_edge(struct graph *g, int parts, uint64_t *state)
{
    const int part = below(state, parts), members = (g->size - part + parts - 1) / parts;
    const int from = part + parts * below(state, members);
    const int to = part + parts * below(state, members);
    const int times = below(state, 4) == 0 ? 1 + below(state, 4) : 1;
    for (int i = 0; i < times; i++) {
        graph_add(&g->out[from], to);
        graph_add(&g->in[to], from);
        if (g->kind == GRAPH_LISTED && from != to) {
            graph_add(&g->out[to], from);
            graph_add(&g->in[from], to);
        }
    }
}

/* The rank one step or none away in each dimension, `sign` times the digits of an offset. */
static int around(const struct graph *g, int rank, int offset, int sign)
{
    for (int d = g->ndims - 1; d >= 0 && rank != GRAPH_NOBODY; d--, offset /= 3)
        rank = step(g, rank, d, sign * (offset % 3 - 1));
    return rank;
}

/* Edges to all ranks around each one in a grid, in any order. */
static void some_stencil(struct graph *g, int size, uint64_t *state)
{
    int offsets = 1;
    const bool centre = below(state, 4) == 0;
    graph_begin(g, GRAPH_DIRECTED, size);
    g->ndims = 2 + below(state, GRAPH_DIMS - 1);
    some_shape(size, g->ndims, g->dims, g->periods, state);
    for (int d = 0; d < g->ndims; d++)
        offsets *= 3;
    for (int rank = 0; rank < size; rank++) {
        for (int o = 0; o < offsets; o++) {
            const int to = around(g, rank, o, 1), from = around(g, rank, o, -1);
            if (to != GRAPH_NOBODY && (o != offsets / 2 || centre))
                graph_add(&g->out[rank], to);
            if (from != GRAPH_NOBODY && (o != offsets / 2 || centre))
                graph_add(&g->in[rank], from);
        }
        shuffle(&g->out[rank], state);
        shuffle(&g->in[rank], state);
    }
    graph_match(g);
}

/* MPI_GRAPH has one list for both directions. */
static void copy_lists(struct graph *g)
{
    for (int rank = 0; rank < g->size; rank++)
        for (int i = 0; i < g->out[rank].count; i++)
            g->in[rank].peer[i] = g->out[rank].peer[i];
}

void graph_by_chance(struct graph *g, int size, uint64_t seed, bool nobody)
{
    uint64_t state = seed, other = ~seed;
    const enum graph_kind kind = (enum graph_kind)below(&state, GRAPH_KINDS);
    if (kind == GRAPH_CART) {
        some_grid(g, size, &state);
        return;
    }
    if (kind == GRAPH_DIRECTED && below(&other, 3) == 0) {
        some_stencil(g, size, &other);
        return;
    }
    graph_begin(g, kind, size);
    const int parts = below(&state, 4) > 0 ? 1 : 1 + below(&state, size);
    for (int left = below(&state, 3 * size + 2); left > 0; left--)
        some_edge(g, parts, &state);
    for (int rank = 0; rank < size; rank++) {
        if (nobody && kind == GRAPH_DIRECTED && below(&state, 3) == 0)
            graph_add(below(&state, 2) ? &g->in[rank] : &g->out[rank], GRAPH_NOBODY);
        shuffle(&g->out[rank], &state);
        shuffle(&g->in[rank], &state);
    }
    if (kind == GRAPH_LISTED)
        copy_lists(g);
    graph_match(g);
}

static void free_ends(struct graph_ends *ends, int size)
{
    for (int i = 0; i < size; i++) {
        free(ends[i].peer);
        free(ends[i].slot);
    }
    free(ends);
}

void graph_free(struct graph *g)
{
    free_ends(g->in, g->size);
    free_ends(g->out, g->size);
    *g = (struct graph){0};
}
