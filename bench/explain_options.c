/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_options.c - the command line of crestacoll-explain. People use `crestacoll explain`. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_place.h"
#include "core/imposed_nodes.h"
#include "explain.h"
#include "transport/sim/sim.h"

static const long long most_bytes = 1LL << 40; /* so that sizes of buffers can be counted */

__attribute__((format(printf, 1, 2))) static bool wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return false;
}

static bool number(const char *what, const char *text, long long min, long long max, long long *to)
{
    char *end = NULL;
    *to = strtoll(text, &end, 10); /* what is too large becomes the largest there is */
    if (text[0] == '\0' || isspace((unsigned char)text[0]) || *end != '\0')
        return wrong("%s: '%s' is no number", what, text);
    if (*to < min || *to > max)
        return wrong("%s: %s is not possible, only %lld to %lld", what, text, min, max);
    return true;
}

static bool read_collective(explain_options *o, const char *name)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        if (strcmp(cco_coll_infos[coll].name, name) == 0) {
            o->coll = (cco_coll)coll;
            return true;
        }
    fprintf(stderr, "no collective '%s'; there are: ", name);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        fprintf(stderr, "%s%s", coll ? ", " : "", cco_coll_infos[coll].name);
    fputc('\n', stderr);
    return false;
}

static bool has_algorithms(const explain_options *o)
{
    if (cco_algo_of(o->coll, 0) != NULL)
        return true;
    fprintf(stderr,
            "%s has no algorithm with a schedule; those that have:", cco_coll_infos[o->coll].name);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        if (cco_algo_of((cco_coll)coll, 0) != NULL)
            fprintf(stderr, " %s", cco_coll_infos[coll].name);
    fputc('\n', stderr);
    return false;
}

const cco_algo *explain_algo(const explain_options *o, int i)
{
    return o->nodes != NULL ? cco_node_algo_of(o->coll, i) : cco_algo_of(o->coll, i);
}

static bool no_algorithm(const explain_options *o, const char *name)
{
    const cco_algo *algo;
    for (int i = 0; (algo = cco_node_algo_of(o->coll, i)) != NULL; i++)
        if (strcmp(algo->name, name) == 0)
            return wrong("%s wants to know where the ranks are: --nodes 2x4", name);
    fprintf(stderr, "%s has no algorithm '%s'; there are: ", cco_coll_infos[o->coll].name, name);
    for (int i = 0; explain_algo(o, i) != NULL; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", explain_algo(o, i)->name);
    fputc('\n', stderr);
    return false;
}

static bool no_parameter(const cco_algo *algo, const char *name)
{
    fprintf(stderr, "%s has no parameter '%s'; there %s", algo->name, name,
            algo->params[0].name == NULL ? "is none" : "are: ");
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        fprintf(stderr, "%s%s (%ld to %ld, else %ld)", i ? ", " : "", algo->params[i].name,
                algo->params[i].min, algo->params[i].max, algo->params[i].preset);
    fputc('\n', stderr);
    return false;
}

/* "k=3" */
static bool read_parameter(explain_options *o, char *text)
{
    char *value = strchr(text, '=');
    if (value == NULL)
        return wrong("'%s' is no parameter: write NAME=VALUE", text);
    *value++ = '\0';
    for (int i = 0; i < CCO_PARAMS && o->algo->params[i].name != NULL; i++) {
        const cco_param *param = &o->algo->params[i];
        long long given = 0;
        if (strcmp(param->name, text) != 0)
            continue;
        if (!number(text, value, param->min, param->max, &given))
            return false;
        o->params[i] = (long)given;
        return true;
    }
    return no_parameter(o->algo, text);
}

/* "bruck", "bruck?k=3&more=4"; takes the text apart. */
static bool read_algorithm(explain_options *o, char *text)
{
    char *params = strchr(text, '?'), *rest = NULL;
    if (params != NULL)
        *params++ = '\0';
    for (int i = 0; explain_algo(o, i) != NULL; i++)
        if (strcmp(explain_algo(o, i)->name, text) == 0)
            o->algo = explain_algo(o, i);
    if (o->algo == NULL)
        return no_algorithm(o, text);
    for (int i = 0; i < CCO_PARAMS && o->algo->params[i].name != NULL; i++)
        o->params[i] = o->algo->params[i].preset;
    if (params == NULL)
        return true;
    if (*params == '\0')
        return wrong("nothing after the '?'");
    for (char *one = strtok_r(params, "&", &rest); one != NULL; one = strtok_r(NULL, "&", &rest))
        if (!read_parameter(o, one))
            return false;
    return true;
}

/* The ranks are those of MPI_COMM_WORLD. */
static bool read_nodes(explain_options *o, const char *text)
{
    uint64_t *keys = malloc((size_t)o->size * sizeof *keys);
    const int ranks = cco_imposed_ranks(text);
    for (int i = 0; keys != NULL && i < o->size; i++)
        keys[i] = (uint64_t)cco_imposed_node(text, i);
    if (ranks >= o->size && keys != NULL)
        o->nodes = cco_node_map_new(keys, o->size);
    free(keys);
    if (ranks == 0)
        return wrong("nodes: '%s': expected nodes and ranks of each, such as 2x4, or 3+5, or the"
                     " node of each rank, such as 0,1,0,1",
                     text);
    if (ranks < o->size)
        return wrong("nodes: %s places %d ranks, and there are %d", text, ranks, o->size);
    return o->nodes != NULL || wrong("no memory");
}

static bool read_one(explain_options *o, const char *name, char *value)
{
    const bool rooted = cco_coll_infos[o->coll].properties & CCO_ROOTED;
    long long given = 0;
    bool fine = false;
    if (strcmp(name, "--algorithm") == 0)
        return read_algorithm(o, value);
    if (strcmp(name, "--bytes") == 0) {
        fine = number("bytes", value, 0, most_bytes, &given);
        o->bytes = (size_t)given;
    } else if (strcmp(name, "--root") == 0 && !rooted) {
        return wrong("%s has no root", cco_coll_infos[o->coll].name);
    } else if (strcmp(name, "--root") == 0) {
        fine = number("root", value, 0, o->size - 1, &given);
        o->root = (int)given;
    } else if (strcmp(name, "--schedule") == 0) {
        fine = number("rank of the schedule", value, 0, o->size - 1, &given);
        o->schedule = (int)given;
    } else if (strcmp(name, "--node-shape") == 0) {
        fine = cco_node_shape_read(&o->node, value) ||
               wrong("shape of the node: '%s': expected memories, caches of each and cores of each,"
                     " such as 2x4x16, of at most 4096 cores in all",
                     value);
    } else {
        return wrong("no option %s", name);
    }
    return fine;
}

bool explain_options_read(explain_options *o, int argc, char **argv)
{
    long long size = 0;
    *o = (explain_options){.schedule = -1};
    if (argc < 3 || argc % 2 == 0)
        return wrong("usage: crestacoll-explain COLLECTIVE PROCESSES [--bytes N]"
                     " [--algorithm NAME[?PARAM=VALUE]] [--root R] [--schedule RANK]"
                     " [--node-shape MEMORIESxCACHESxCORES] [--nodes NODES]");
    if (!read_collective(o, argv[1]) || !has_algorithms(o) ||
        !number("number of processes", argv[2], 1, CCO_SIM_RANKS, &size))
        return false;
    o->size = (int)size;
    for (int i = 3; i < argc; i += 2) /* algorithms depend on it */
        if (strcmp(argv[i], "--nodes") == 0 && !read_nodes(o, argv[i + 1]))
            return false;
    for (int i = 3; i < argc; i += 2)
        if (strcmp(argv[i], "--nodes") != 0 && !read_one(o, argv[i], argv[i + 1]))
            return false;
    const int cores = o->node.memories * o->node.caches * o->node.cores;
    return cores == 0 || o->size <= cores ||
           wrong("a node of %d cores has no room for %d ranks", cores, o->size);
}
