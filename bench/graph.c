/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - see graph.h. */
#include "graph.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/stencil.h"
#include "peer_lists.h"
#include "simulator/all_neighbors.h"

/* Factors go to the smallest dimension, the largest first. */
static void cut(int size, int ndims, int *dims)
{
    for (int d = 0; d < ndims; d++)
        dims[d] = 1;
    for (int left = size, factor = size; left > 1 && factor > 1; factor--) {
        bool prime = true;
        for (int i = 2; i <= factor / i; i++)
            prime = prime && factor % i != 0;
        for (; prime && left % factor == 0; left /= factor) {
            int least = 0;
            for (int d = 1; d < ndims; d++)
                least = dims[d] < dims[least] ? d : least;
            dims[least] *= factor;
        }
    }
}

static void add(cco_neighbors *near, int from, int to)
{
    ((int *)(uintptr_t)near[from].out)[near[from].degrees.out++] = to;
    ((int *)(uintptr_t)near[to].in)[near[to].degrees.in++] = from;
}

/* Below and above in each dimension; what goes down is the block from above there. */
static void fill_torus(cco_neighbors *near, int size, int ndims)
{
    int dims[PEER_DIMS];
    cut(size, ndims, dims);
    for (int rank = 0; rank < size; rank++) {
        cco_neighbors *own = &near[rank];
        own->grid = true;
        own->degrees = (cco_degrees){2 * ndims, 2 * ndims};
        for (int k = 0; k < 2 * ndims; k++) {
            int steps[PEER_DIMS] = {0};
            steps[k / 2] = 2 * (k % 2) - 1;
            const int peer = peer_at(dims, ndims, rank, steps);
            ((int *)(uintptr_t)own->in)[k] = ((int *)(uintptr_t)own->out)[k] = peer;
        }
    }
}

static void fill_stencil(cco_neighbors *near, int size, int ndims)
{
    int dims[PEER_DIMS];
    cut(size, ndims, dims);
    for (int rank = 0; rank < size; rank++) {
        cco_neighbors *own = &near[rank];
        own->degrees.in = peer_list_around(dims, ndims, rank, -1, (int *)(uintptr_t)own->in);
        own->degrees.out = peer_list_around(dims, ndims, rank, 1, (int *)(uintptr_t)own->out);
    }
    cco_all_neighbors_give_stencil(near, size);
}

/* How random lists come about, and room for one. */
typedef struct chance {
    int degree;
    bool connects; /* by connections of a cell */
    int *targets;
    char *there;
} chance;

static int draw(const chance *c, int rank, int size)
{
    if (c->connects)
        return peer_list_connected(rank, size, c->degree, c->targets, c->there);
    if (size > 1)
        peer_list_random(rank, size, c->degree, c->targets);
    return size > 1 ? c->degree : 0;
}

/* Lists as long as they will be: few ranks have many. */
static bool make_room_by_chance(cco_neighbors *near, int size, const chance *c)
{
    bool fine = true;
    for (int rank = 0; rank < size && fine; rank++) {
        const int n = draw(c, rank, size);
        near[rank].out = malloc(((size_t)n + 1) * sizeof *near[rank].out);
        fine = near[rank].out != NULL;
        for (int i = 0; i < n; i++)
            near[c->targets[i]].degrees.in++;
    }
    for (int rank = 0; rank < size && fine; rank++) {
        near[rank].in = malloc(((size_t)near[rank].degrees.in + 1) * sizeof *near[rank].in);
        fine = near[rank].in != NULL;
        near[rank].degrees.in = 0;
    }
    return fine;
}

static cco_neighbors *make_by_chance(int size, int degree, bool connects)
{
    chance c = {.degree = degree, .connects = connects};
    cco_neighbors *near = calloc((size_t)size, sizeof *near);
    c.targets = malloc((size_t)degree * sizeof *c.targets);
    c.there = calloc((size_t)size, 1);
    const bool fine = near != NULL && c.targets != NULL && c.there != NULL &&
                      make_room_by_chance(near, size, &c);
    for (int rank = 0; fine && rank < size; rank++) {
        const int n = draw(&c, rank, size);
        for (int i = 0; i < n; i++)
            add(near, rank, c.targets[i]);
    }
    free(c.targets);
    free(c.there);
    if (fine)
        return near;
    graph_free(near, size);
    return NULL;
}

/* Lists of a regular shape. */
static cco_neighbors *make(int size, int ndims,
                           void (*fill)(cco_neighbors *near, int size, int ndims))
{
    cco_neighbors *near = calloc((size_t)size, sizeof *near);
    bool fine = near != NULL;
    for (int i = 0; fine && i < size; i++) {
        near[i].in = malloc(CCO_STENCIL_OFFSETS * sizeof *near[i].in);
        near[i].out = malloc(CCO_STENCIL_OFFSETS * sizeof *near[i].out);
        fine = near[i].in != NULL && near[i].out != NULL;
    }
    if (fine) {
        fill(near, size, ndims);
        return near;
    }
    graph_free(near, size);
    return NULL;
}

cco_neighbors *graph_make(const char *text, int size)
{
    static const struct {
        const char *name;
        void (*fill)(cco_neighbors *near, int size, int n); /* NULL: at random */
        int least, most;
        bool connects;
    } kinds[] = {{"torus", fill_torus, 1, PEER_DIMS, false},
                 {"stencil", fill_stencil, 2, PEER_DIMS, false},
                 {"random", NULL, 1, PEER_TARGETS, false},
                 {"spikes", NULL, 1, PEER_CONNECTIONS, true}};
    const size_t length = strcspn(text, ":");
    const int n = text[length] == ':' ? atoi(text + length + 1) : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == length && strncmp(text, kinds[i].name, length) == 0 &&
            n >= kinds[i].least && n <= kinds[i].most)
            return kinds[i].fill != NULL ? make(size, n, kinds[i].fill)
                                         : make_by_chance(size, n, kinds[i].connects);
    return NULL;
}

void graph_free(cco_neighbors *near, int size)
{
    for (int i = 0; near != NULL && i < size; i++) {
        free((void *)(uintptr_t)near[i].in);
        free((void *)(uintptr_t)near[i].out);
        free(near[i].stencil);
        free(near[i].mates);
    }
    free(near);
}
