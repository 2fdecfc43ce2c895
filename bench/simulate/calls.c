/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - see calls.h. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "../asked.h"
#include "mpi/mpi_compat.h"
#include "../even.h"
#include "../graph.h"
#include "plan/preset.h"
#include "simulator/all_neighbors.h"

/* Communicators whose ranks lie on nodes in the same way are of one sort: only one of them is
 * built. */
typedef struct sorts {
    cco_node_map **maps;
    size_t count;
} sorts;

static cco_node_map *map_of(const job *j, const phase *f, int first)
{
    uint64_t *keys = malloc((size_t)f->size * sizeof *keys);
    for (int i = 0; keys != NULL && i < f->size; i++)
        keys[i] = (uint64_t)j->nodes->node[first + i * f->stride];
    cco_node_map *map = keys != NULL ? cco_node_map_new(keys, f->size) : NULL;
    free(keys);
    return map;
}

/* The number of its sort; -1: no memory. */
static long sort_of(sorts *all, cco_node_map *map)
{
    for (size_t i = 0; i < all->count; i++)
        if (memcmp(all->maps[i]->node, map->node, (size_t)map->size * sizeof *map->node) == 0) {
            cco_node_map_drop(map);
            return (long)i;
        }
    cco_node_map **maps = realloc(all->maps, (all->count + 1) * sizeof(cco_node_map *));
    if (maps == NULL) {
        cco_node_map_drop(map);
        return -1;
    }
    all->maps = maps;
    all->maps[all->count] = map;
    return (long)all->count++;
}

static bool find_sorts(const job *j, const phase *f, job_call *c, sorts *all)
{
    const int comms = j->ranks / f->size, whole = f->size * f->stride;
    c->sort = malloc((size_t)comms * sizeof *c->sort);
    for (int i = 0; c->sort != NULL && i < comms; i++) {
        cco_node_map *map = map_of(j, f, i / f->stride * whole + i % f->stride);
        const long sort = map != NULL ? sort_of(all, map) : -1;
        if (sort < 0)
            return false;
        c->sort[i] = (uint32_t)sort;
    }
    return c->sort != NULL;
}

static bool cannot(const cco_algo *algo, int error)
{
    if (error == MPI_ERR_NO_MEM)
        return asked_wrong("no memory");
    if (error == MPI_ERR_RMA_SYNC)
        return asked_wrong("%s has one-sided steps, which are not simulated", algo->name);
    return asked_wrong("%s: the builder refused (class %d)", algo->name, error);
}

/* The programs of one communicator; its first problem decides what runs. */
static bool make_one(job *j, const job_call *c, even *e, const cco_node_map *map, uint32_t *program)
{
    cco_problem q = even_problem(e, 0);
    q.nodes = map;
    memcpy(q.params, c->params, sizeof q.params);
    const cco_algo *algo = c->algo != NULL ? c->algo : cco_preset_algo(&q, c->by_nodes);
    const char *reason = cco_algo_refuses(algo, &q);
    long presets[CCO_PARAMS] = {0};
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        presets[i] = algo->params[i].preset;
    if (reason != NULL)
        return asked_wrong("%s %s", algo->name, reason);
    for (int i = 0; i < e->size; i++) {
        q = even_problem(e, i);
        q.nodes = map;
        q.counts = cco_algo_shares(algo, q.coll) ? even_counts(e, &q) : NULL;
        memcpy(q.params, c->algo != NULL ? c->params : presets, sizeof q.params);
        const int error = program_make(&j->programs, algo, &q, &program[i]);
        if (error != MPI_SUCCESS)
            return cannot(algo, error);
    }
    return true;
}

/* Who needs what on the nodes of a map. */
static bool tell_mates(cco_neighbors *near, const cco_node_map *map)
{
    for (int i = 0; i < map->size; i++) {
        free(near[i].mates);
        near[i].mates = NULL;
    }
    return cco_all_neighbors_give_mates(near, map) || asked_wrong("no memory");
}

/* Whether what is called needs to know that, which takes more memory than all else. */
static bool wants_mates(const job_call *c, const even *e, const cco_node_map *map)
{
    cco_problem q = even_problem(e, 0);
    q.nodes = map;
    memcpy(q.params, c->params, sizeof q.params);
    return c->algo != NULL ? cco_algo_refuses(c->algo, &q) != NULL : c->by_nodes;
}

/* The programs of all sorts. */
static bool make_all(job *j, const phase *f, const job_call *c, even *e, const sorts *all)
{
    bool fine = true;
    cco_neighbors *near = NULL;
    if (j->topology[0] != '\0') {
        e->near = near = graph_make(j->topology, f->size);
        if (near == NULL)
            return asked_wrong("topology %s: expected torus:1 to torus:4, stencil:2 to stencil:4,"
                               " random:1 to random:64, or spikes:1 to spikes:10000, or there is"
                               " no memory",
                               j->topology);
    }
    const bool mates = near != NULL && wants_mates(c, e, all->maps[0]);
    for (size_t i = 0; i < all->count && fine; i++)
        fine = (!mates || tell_mates(near, all->maps[i])) &&
               make_one(j, c, e, all->maps[i], c->program + i * (size_t)f->size);
    graph_free(near, f->size);
    return fine;
}

bool calls_make(job *j, phase *f, job_call *c)
{
    even e;
    sorts all = {.count = 0};
    bool fine = find_sorts(j, f, c, &all);
    c->program = fine ? malloc(all.count * (size_t)f->size * sizeof *c->program) : NULL;
    if (c->program == NULL || !even_begin(&e, c->coll, f->size, c->root, c->bytes)) {
        fine = asked_wrong("no memory");
    } else {
        fine = make_all(j, f, c, &e, &all);
        even_end(&e);
    }
    for (size_t i = 0; i < all.count; i++)
        cco_node_map_drop(all.maps[i]);
    free(all.maps);
    f->program = c->program;
    f->sort = c->sort;
    return fine;
}
