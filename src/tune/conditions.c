/* SPDX-License-Identifier: BSD-3-Clause */
/* conditions.c - see conditions.h. */
#include "tune/conditions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/classes.h"

static void parse_nodes(cco_parser *p, cco_counted what, int *least, int *most)
{
    MPI_Count low, high;
    cco_parse_range(p, what, '\0', INT_MAX, &low, &high);
    *least = (int)low;
    *most = (int)high;
}

/* Types and operations are the same on all ranks in reductions only; not in those of neighbors,
 * where a rank without any may pass what it likes. */
static void keep_reductions(cco_parser *p, cco_rule *rule, const char *place, const char *what)
{
    uint32_t reductions = 0;
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (cco_coll_infos[i].properties & CCO_REDUCTION && !cco_is_neighbor((cco_coll)i))
            reductions |= 1u << i;
    if (!cco_parse_failed(p) && (rule->collectives & reductions) == 0)
        cco_parse_fail(p, place,
                       "%s is no reduction%s, and only these have the same %s on all ranks",
                       cco_coll_infos[__builtin_ctz(rule->collectives)].name,
                       rule->collectives & cco_colls(true) ? " of all ranks" : "", what);
    rule->collectives &= reductions;
}

static void parse_class(cco_parser *p, cco_rule *rule, bool types)
{
    char possible[128] = "";
    cco_parse_skip_blanks(p);
    const size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz");
    size_t used = 0;
    for (int i = 0; cco_class_name(types, i) != NULL; i++) {
        const char *name = cco_class_name(types, i);
        if (strlen(name) == length && strncmp(name, p->at, length) == 0) {
            rule->classes |= cco_class_bit(types, i);
            p->at += length;
            return;
        }
        used += (size_t)snprintf(possible + used, sizeof possible - used, "%s%s", i > 0 ? ", " : "",
                                 name);
    }
    cco_parse_fail(p, p->at, "expected a class of %s: %s", types ? "types" : "operations",
                   possible);
}

enum { NODES, RANKS_PER_NODE, TYPE, OPERATION, KNOWN };

static const char *const names[KNOWN] = {"nodes", "ranks_per_node", "type", "operation"};

static int parse_name(cco_parser *p)
{
    cco_parse_skip_blanks(p);
    const size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_");
    int which = 0;
    while (which < KNOWN &&
           !(strlen(names[which]) == length && strncmp(names[which], p->at, length) == 0))
        which++;
    if (which == KNOWN)
        cco_parse_fail(p, p->at, "expected a condition: nodes, ranks_per_node, type or operation");
    p->at += which < KNOWN ? length : 0;
    return which;
}

static void parse_condition(cco_parser *p, cco_rule *rule, unsigned *seen)
{
    cco_parse_skip_blanks(p);
    const char *start = p->at;
    const int which = parse_name(p);
    if (which < KNOWN && *seen >> which & 1)
        cco_parse_fail(p, start, "%s stands here twice", names[which]);
    *seen |= 1u << which;
    cco_parse_expect(p, '=', "the name of a condition");
    if (cco_parse_failed(p))
        return;
    if (which == NODES) {
        parse_nodes(p, CCO_NODES, &rule->nodes_min, &rule->nodes_max);
    } else if (which == RANKS_PER_NODE) {
        parse_nodes(p, CCO_PROCESSES, &rule->on_node_min, &rule->on_node_max);
    } else {
        parse_class(p, rule, which == TYPE);
        keep_reductions(p, rule, start, names[which]);
    }
}

void cco_parse_conditions(cco_parser *p, cco_rule *rule)
{
    unsigned seen = 0;
    do
        parse_condition(p, rule, &seen);
    while (cco_parse_accept(p, '&'));
    cco_parse_expect(p, '}', "conditions");
}
