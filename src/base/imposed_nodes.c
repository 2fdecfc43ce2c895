/* SPDX-License-Identifier: BSD-3-Clause */
/* imposed_nodes.c - see imposed_nodes.h. */
#include "base/imposed_nodes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 22 /* ranks */ };

/* A number of a text from 0 to MOST; -1, and `*at` unchanged, if there is none. */
static long imposed_nodes_number(const char **at)
{
    char *end;
    const long value = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (value < 0 || value > MOST)
        return -1;
    *at = end;
    return value;
}

/* Ranks whose nodes are asked for. */
typedef struct asked {
    long first, count;
    int *node; /* of each */
} asked;

/* Ranks from `from` up to `to` are on a node. */
static void imposed_nodes_place(const asked *a, long from, long to, int node)
{
    const long end = a->first + a->count;
    for (long i = from > a->first ? from : a->first; i < to && i < end; i++)
        a->node[i - a->first] = node;
}

/* Numbers between separators to the end of the text: how many ranks they place. */
static long imposed_nodes_walk(const char *text, char separator, const asked *a)
{
    long ranks = 0;
    for (int i = 0;; i++, text++) {
        const long value = imposed_nodes_number(&text), more = separator == ',' ? 1 : value;
        if (value < 0 || more == 0 || ranks + more > MOST || (*text != separator && *text != '\0'))
            return 0;
        imposed_nodes_place(a, ranks, ranks + more, separator == ',' ? (int)value : i);
        ranks += more;
        if (*text == '\0')
            return ranks;
    }
}

static long imposed_nodes_product(const char *text, const asked *a)
{
    const long nodes = imposed_nodes_number(&text);
    if (nodes <= 0 || *text++ != 'x')
        return 0;
    const long each = imposed_nodes_number(&text);
    if (each <= 0 || *text != '\0' || nodes * each > MOST)
        return 0;
    for (long i = 0; i < a->count; i++)
        a->node[i] = (int)((a->first + i) / each);
    return nodes * each;
}

static long imposed_nodes_read_text(const char *text, const asked *a)
{
    if (strchr(text, 'x') != NULL)
        return imposed_nodes_product(text, a);
    return imposed_nodes_walk(text, strchr(text, ',') != NULL ? ',' : '+', a);
}

int cco_imposed_ranks(const char *text)
{
    return (int)imposed_nodes_read_text(text, &(asked){.count = 0});
}

int cco_imposed_node(const char *text, int rank)
{
    int node = 0;
    imposed_nodes_read_text(text, &(asked){rank, 1, &node});
    return node;
}

void cco_imposed_nodes(const char *text, int count, int *node)
{
    imposed_nodes_read_text(text, &(asked){0, count, node});
}
