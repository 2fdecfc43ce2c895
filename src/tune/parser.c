/* SPDX-License-Identifier: BSD-3-Clause */
/* parser.c - see parser.h. */
#include "tune/parser.h"
#include "reduce/classes.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <limits.h>

bool cco_parse_failed(const cco_parser *p)
{
    return p->error[0] != '\0';
}

/* Says what is wrong at `place`, with the line it stands in. */
__attribute__((format(printf, 3, 4))) void cco_parse_fail(cco_parser *p, const char *place,
                                                          const char *format, ...)
{
    if (cco_parse_failed(p))
        return;
    const char *line = place;
    int number = 1;
    while (line > p->spec && line[-1] != '\n')
        line--;
    for (const char *c = p->spec; c < line; c++)
        number += *c == '\n';
    int used = snprintf(p->error, p->room, "%s: ", p->source);
    va_list arguments;
    va_start(arguments, format);
    used += vsnprintf(p->error + used, p->room - (size_t)used, format, arguments);
    va_end(arguments);
    if ((size_t)used >= p->room)
        return;
    char where[32] = "";
    if (strchr(p->spec, '\n') != NULL)
        snprintf(where, sizeof where, "line %d, ", number);
    snprintf(p->error + used, p->room - (size_t)used, "\n    %.*s\n    %*s^ %scharacter %d",
             (int)strcspn(line, "\n"), line, (int)(place - line), "", where,
             (int)(place - line) + 1);
}

void cco_parse_skip_blanks(cco_parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

bool cco_parse_accept(cco_parser *p, char c)
{
    cco_parse_skip_blanks(p);
    if (cco_parse_failed(p) || *p->at != c)
        return false;
    p->at++;
    return true;
}

void cco_parse_expect(cco_parser *p, char c, const char *after)
{
    if (!cco_parse_accept(p, c))
        cco_parse_fail(p, p->at, "expected '%c' after %s", c, after);
}

MPI_Count cco_parse_number(cco_parser *p, MPI_Count inf, cco_counted what)
{
    static const char *const expected[] = {
        [CCO_BYTES] = "expected a size: digits, then K, M or G if need be, or inf",
        [CCO_PROCESSES] = "expected a number of processes, or inf",
        [CCO_NODES] = "expected a number of nodes, or inf"};
    const bool units = what == CCO_BYTES;
    cco_parse_skip_blanks(p);
    const char *start = p->at;
    if (strncasecmp(p->at, "inf", 3) == 0) {
        p->at += 3;
        return inf;
    }
    MPI_Count value = 0;
    bool fits = true;
    for (; isdigit((unsigned char)*p->at); p->at++) {
        fits = fits && value <= (inf - 9) / 10;
        value = fits ? value * 10 + (*p->at - '0') : value;
    }
    if (p->at == start) {
        cco_parse_fail(p, start, "%s", expected[what]);
        return 0;
    }
    const char *unit = units && *p->at != '\0' ? strchr("KMG", toupper((unsigned char)*p->at))
                                               : NULL;
    if (unit != NULL) {
        const int shift = 10 * (int)(strchr("KMG", *unit) - "KMG" + 1);
        fits = fits && value <= inf >> shift;
        value = fits ? value << shift : value;
        p->at++;
    }
    if (!fits)
        cco_parse_fail(p, start, "this number is too large; write inf for no limit");
    return value;
}

void cco_parse_range(cco_parser *p, cco_counted what, char close, MPI_Count inf, MPI_Count *low,
                     MPI_Count *high)
{
    cco_parse_skip_blanks(p);
    const char *start = p->at;
    *low = cco_parse_number(p, inf, what);
    *high = cco_parse_accept(p, '-') ? cco_parse_number(p, inf, what) : *low;
    if (close != '\0')
        cco_parse_expect(p, close, "a range");
    if (*low > *high)
        cco_parse_fail(p, start, "this range ends before it begins");
}

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
