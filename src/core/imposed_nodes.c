/* SPDX-License-Identifier: BSD-3-Clause */
/* imposed_nodes.c - see imposed_nodes.h. */
#include "core/imposed_nodes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 /* ranks */ };

/* A number of a text from 0 to MOST; -1, and `*at` unchanged, if there is none. */
static long number(const char **at)
{
    char *end;
    const long value = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (value < 0 || value > MOST)
        return -1;
    *at = end;
    return value;
}

/* Numbers between separators to the end of the text: how many ranks they place; the node of `rank`
 * if it is among them. */
static long walk(const char *text, char separator, int rank, int *node)
{
    long ranks = 0;
    for (int i = 0;; i++, text++) {
        const long value = number(&text), more = separator == ',' ? 1 : value;
        if (value < 0 || more == 0 || ranks + more > MOST || (*text != separator && *text != '\0'))
            return 0;
        if (node != NULL && ranks <= rank && rank < ranks + more)
            *node = separator == ',' ? (int)value : i;
        ranks += more;
        if (*text == '\0')
            return ranks;
    }
}

static long product(const char *text, int rank, int *node)
{
    const long nodes = number(&text);
    if (nodes <= 0 || *text++ != 'x')
        return 0;
    const long each = number(&text);
    if (each <= 0 || *text != '\0' || nodes * each > MOST)
        return 0;
    if (node != NULL)
        *node = (int)(rank / each);
    return nodes * each;
}

static long read_text(const char *text, int rank, int *node)
{
    if (strchr(text, 'x') != NULL)
        return product(text, rank, node);
    return walk(text, strchr(text, ',') != NULL ? ',' : '+', rank, node);
}

int cco_imposed_ranks(const char *text)
{
    return (int)read_text(text, 0, NULL);
}

int cco_imposed_node(const char *text, int rank)
{
    int node = 0;
    read_text(text, rank, &node);
    return node;
}
