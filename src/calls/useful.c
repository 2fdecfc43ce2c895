/* SPDX-License-Identifier: BSD-3-Clause */
/* useful.c - sums of useful time.  Whatever the order in which ranks come together, the result is
 * the same: of ranks with the same time, the first one counts. */
#include "calls/useful.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_KNOWN = -1 };

/* Without memory for one of them, no node is known. */
static bool useful_room(cco_useful *u, int nodes)
{
    cco_useful_node *more = realloc(u->nodes, sizeof *more * (size_t)(nodes > 0 ? nodes : 1));
    if (more == NULL)
        return false;
    u->nodes = more;
    return true;
}

static void useful_forget_nodes(cco_useful *u)
{
    free(u->nodes);
    u->nodes = NULL;
    u->sum.nodes = NOT_KNOWN;
}

void cco_useful_begin(cco_useful *u, cco_useful_place at, double us, double elapsed_us)
{
    us = us > 0 ? us : 0;
    u->sum = (cco_useful_sum){1, 1, at.rank, at.rank, us, us, us, elapsed_us};
    if (at.node >= 0 && useful_room(u, 1))
        u->nodes[0] = (cco_useful_node){at.node, 1, us, us};
    else
        useful_forget_nodes(u);
}

static int useful_compare(const void *a, const void *b)
{
    const cco_useful_node *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void useful_add_nodes(cco_useful *u, int count, const cco_useful_node *more)
{
    if (u->sum.nodes < 0 || count < 0 || !useful_room(u, u->sum.nodes + count)) {
        useful_forget_nodes(u);
        return;
    }
    cco_useful_node *list = u->nodes;
    const int all = u->sum.nodes + count;
    int kept = 0;
    memcpy(list + u->sum.nodes, more, sizeof *more * (size_t)count);
    qsort(list, (size_t)all, sizeof *list, useful_compare);
    for (int i = 1; i < all; i++) {
        if (list[i].first != list[kept].first) {
            list[++kept] = list[i];
            continue;
        }
        list[kept].ranks += list[i].ranks;
        list[kept].us += list[i].us;
        if (list[i].us_max > list[kept].us_max)
            list[kept].us_max = list[i].us_max;
    }
    u->sum.nodes = kept + 1;
}

void cco_useful_add(cco_useful *u, const cco_useful_sum *sum, const cco_useful_node *nodes)
{
    cco_useful_sum *s = &u->sum;
    s->ranks += sum->ranks;
    s->us += sum->us;
    if (sum->us_min < s->us_min || (sum->us_min == s->us_min && sum->min_rank < s->min_rank)) {
        s->us_min = sum->us_min;
        s->min_rank = sum->min_rank;
    }
    if (sum->us_max > s->us_max || (sum->us_max == s->us_max && sum->max_rank < s->max_rank)) {
        s->us_max = sum->us_max;
        s->max_rank = sum->max_rank;
    }
    if (sum->elapsed_us > s->elapsed_us)
        s->elapsed_us = sum->elapsed_us;
    useful_add_nodes(u, sum->nodes, nodes);
}

void cco_useful_put(FILE *file, const cco_useful *u)
{
    const cco_useful_sum *s = &u->sum;
    fprintf(file,
            "{\"mean\": %.3f, \"min\": %.3f, \"max\": %.3f, \"min_rank\": %d, \"max_rank\": %d,"
            " \"elapsed\": %.3f,\n  \"nodes\": ",
            s->us / s->ranks, s->us_min, s->us_max, s->min_rank, s->max_rank, s->elapsed_us);
    fprintf(file, s->nodes < 0 ? "null}" : "[");
    for (int i = 0; i < s->nodes; i++) {
        const cco_useful_node *n = &u->nodes[i];
        fprintf(file, "%s{\"first_rank\": %d, \"ranks\": %d, \"mean\": %.3f, \"max\": %.3f}",
                i > 0 ? ",\n   " : "", n->first, n->ranks, n->us / n->ranks, n->us_max);
    }
    if (s->nodes >= 0)
        fprintf(file, "]}");
}
