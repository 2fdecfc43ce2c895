/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_options.c - the command line of crestacoll-explain. People use `crestacoll explain`. */
#include <string.h>

#include "asked.h"
#include "base/core_place.h"
#include "explain.h"
#include "graph.h"
#include "simulator/all_neighbors.h"
#include "simulator/sim.h"

static const long long most_bytes = 1LL << 40; /* so that sizes of buffers can be counted */

const cco_algo *explain_algo(const explain_options *o, int i)
{
    return asked_algo(o->coll, o->nodes != NULL, i);
}

static bool read_one(explain_options *o, const char *name, char *value)
{
    const bool rooted = cco_coll_infos[o->coll].properties & CCO_ROOTED;
    long long given = 0;
    bool fine = false;
    if (strcmp(name, "--algorithm") == 0)
        return asked_algorithm(o->coll, o->nodes != NULL, value, &o->algo, o->params);
    if (strcmp(name, "--bytes") == 0) {
        fine = asked_number("bytes", value, 0, most_bytes, &given);
        o->bytes = (size_t)given;
    } else if (strcmp(name, "--root") == 0 && !rooted) {
        return asked_wrong("%s has no root", cco_coll_infos[o->coll].name);
    } else if (strcmp(name, "--root") == 0) {
        fine = asked_number("root", value, 0, o->size - 1, &given);
        o->root = (int)given;
    } else if (strcmp(name, "--schedule") == 0) {
        fine = asked_number("rank of the schedule", value, 0, o->size - 1, &given);
        o->schedule = (int)given;
    } else if (strcmp(name, "--node-shape") == 0) {
        fine = cco_node_shape_read(&o->node, value) ||
               asked_wrong(
                   "shape of the node: '%s': expected memories, caches of each and cores of each,"
                   " such as 2x4x16, of at most 4096 cores in all",
                   value);
    } else {
        return asked_wrong("no option %s", name);
    }
    return fine;
}

static bool is_before(const char *word)
{
    return strcmp(word, "--nodes") == 0 || strcmp(word, "--topology") == 0;
}

/* What algorithms and other options depend on. */
static bool read_before(explain_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--nodes") == 0)
        return (o->nodes = asked_nodes(value, o->size)) != NULL;
    o->near = graph_make(value, o->size);
    return o->near != NULL ||
           asked_wrong("--topology: '%s': expected torus:1 to torus:4, stencil:2 to stencil:4,"
                       " random:1 to random:64, or spikes:1 to spikes:10000",
                       value);
}

static bool has(int argc, char **argv, const char *name)
{
    for (int i = 3; i < argc; i += 2)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

bool explain_options_read(explain_options *o, int argc, char **argv)
{
    long long size = 0;
    *o = (explain_options){.schedule = -1};
    if (argc < 3 || argc % 2 == 0)
        return asked_wrong("usage: crestacoll-explain COLLECTIVE PROCESSES [--bytes N]"
                           " [--algorithm NAME[?PARAM=VALUE]] [--root R] [--schedule RANK]"
                           " [--node-shape MEMORIESxCACHESxCORES] [--nodes NODES]"
                           " [--topology torus:D|stencil:D|random:K]");
    if (!asked_collective(argv[1], has(argc, argv, "--topology"), &o->coll) ||
        !asked_number("number of processes", argv[2], 1, CCO_SIM_RANKS, &size))
        return false;
    o->size = (int)size;
    for (int i = 3; i < argc; i += 2)
        if (is_before(argv[i]) && !read_before(o, argv[i], argv[i + 1]))
            return false;
    if (o->near != NULL && o->nodes != NULL && !cco_all_neighbors_give_mates(o->near, o->nodes))
        return asked_wrong("no memory");
    for (int i = 3; i < argc; i += 2)
        if (!is_before(argv[i]) && !read_one(o, argv[i], argv[i + 1]))
            return false;
    const int cores = o->node.memories * o->node.caches * o->node.cores;
    return cores == 0 || o->size <= cores ||
           asked_wrong("a node of %d cores has no room for %d ranks", cores, o->size);
}
