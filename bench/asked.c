/* SPDX-License-Identifier: BSD-3-Clause */
/* asked.c - see asked.h. */
#include "asked.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/imposed_nodes.h"

enum { UNIT_ROOM = 24 };

const cco_algo *asked_algo(cco_coll coll, bool by_nodes, int i)
{
    return by_nodes ? cco_node_algo_of(coll, i) : cco_algo_of(coll, i);
}

bool asked_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return false;
}

bool asked_number(const char *what, const char *text, long long min, long long max, long long *to)
{
    char *end = NULL;
    *to = strtoll(text, &end, 10); /* what is too large becomes the largest there is */
    if (text[0] == '\0' || isspace((unsigned char)text[0]) || *end != '\0')
        return asked_wrong("%s: '%s' is no number", what, text);
    if (*to < min || *to > max)
        return asked_wrong("%s: %s is not possible, only %lld to %lld", what, text, min, max);
    return true;
}

static bool has_algorithms(cco_coll asked, bool near)
{
    if (cco_is_neighbor(asked) && !near)
        return asked_wrong("%s depends on the neighbours of each rank, which are not said",
                           cco_coll_infos[asked].name);
    if (!cco_is_neighbor(asked) && near)
        return asked_wrong("%s does not depend on a topology", cco_coll_infos[asked].name);
    if (cco_algo_of(asked, 0) != NULL)
        return true;
    fprintf(stderr,
            "%s has no algorithm with a schedule; those that have:", cco_coll_infos[asked].name);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        if (cco_algo_of((cco_coll)coll, 0) != NULL && !cco_is_neighbor((cco_coll)coll))
            fprintf(stderr, " %s", cco_coll_infos[coll].name);
    fputc('\n', stderr);
    return false;
}

bool asked_collective(const char *name, bool near, cco_coll *coll)
{
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (strcmp(cco_coll_infos[i].name, name) == 0) {
            *coll = (cco_coll)i;
            return has_algorithms(*coll, near);
        }
    fprintf(stderr, "no collective '%s'; there are: ", name);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        fprintf(stderr, "%s%s", coll ? ", " : "", cco_coll_infos[coll].name);
    fputc('\n', stderr);
    return false;
}

static bool no_algorithm(cco_coll coll, bool by_nodes, const char *name)
{
    const cco_algo *algo;
    for (int i = 0; (algo = cco_node_algo_of(coll, i)) != NULL; i++)
        if (strcmp(algo->name, name) == 0)
            return asked_wrong("%s wants to know where the ranks are: --nodes 2x4", name);
    fprintf(stderr, "%s has no algorithm '%s'; there are: ", cco_coll_infos[coll].name, name);
    for (int i = 0; asked_algo(coll, by_nodes, i) != NULL; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", asked_algo(coll, by_nodes, i)->name);
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

/* "4K" becomes "4096", in `room`; what is not such a text stays. */
static const char *without_unit(const char *text, char room[UNIT_ROOM])
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    const int unit = toupper((unsigned char)*end);
    const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    if (!isdigit((unsigned char)text[0]) || shift == 0 || end[1] != '\0' ||
        number > LLONG_MAX >> shift)
        return text;
    snprintf(room, UNIT_ROOM, "%lld", number << shift);
    return room;
}

/* "k=3", "chunk=4K" */
static bool read_parameter(const cco_algo *algo, char *text, long *params)
{
    char *value = strchr(text, '=');
    if (value == NULL)
        return asked_wrong("'%s' is no parameter: write NAME=VALUE", text);
    *value++ = '\0';
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++) {
        const cco_param *param = &algo->params[i];
        char plain[UNIT_ROOM];
        long long given = 0;
        if (strcmp(param->name, text) != 0)
            continue;
        if (!asked_number(text, without_unit(value, plain), param->min, param->max, &given))
            return false;
        params[i] = (long)given;
        return true;
    }
    return no_parameter(algo, text);
}

bool asked_algorithm(cco_coll coll, bool by_nodes, char *text, const cco_algo **algo, long *params)
{
    char *given = strchr(text, '?'), *rest = NULL;
    if (given != NULL)
        *given++ = '\0';
    for (int i = 0; asked_algo(coll, by_nodes, i) != NULL; i++)
        if (strcmp(asked_algo(coll, by_nodes, i)->name, text) == 0)
            *algo = asked_algo(coll, by_nodes, i);
    if (*algo == NULL)
        return no_algorithm(coll, by_nodes, text);
    for (int i = 0; i < CCO_PARAMS && (*algo)->params[i].name != NULL; i++)
        params[i] = (*algo)->params[i].preset;
    if (given == NULL)
        return true;
    if (*given == '\0')
        return asked_wrong("nothing after the '?'");
    for (char *one = strtok_r(given, "&", &rest); one != NULL; one = strtok_r(NULL, "&", &rest))
        if (!read_parameter(*algo, one, params))
            return false;
    return true;
}

cco_node_map *asked_nodes(const char *text, int size)
{
    uint64_t *keys = malloc((size_t)size * sizeof *keys);
    int *node = malloc((size_t)size * sizeof *node);
    const int ranks = cco_imposed_ranks(text);
    cco_node_map *nodes = NULL;
    if (ranks >= size && keys != NULL && node != NULL) {
        cco_imposed_nodes(text, size, node);
        for (int i = 0; i < size; i++)
            keys[i] = (uint64_t)node[i];
        nodes = cco_node_map_new(keys, size);
    }
    free(node);
    free(keys);
    if (ranks == 0)
        asked_wrong("nodes: '%s': expected nodes and ranks of each, such as 2x4, or 3+5, or the"
                    " node of each rank, such as 0,1,0,1",
                    text);
    else if (ranks < size)
        asked_wrong("nodes: %s places %d ranks, and there are %d", text, ranks, size);
    else if (nodes == NULL)
        asked_wrong("no memory");
    return nodes;
}
