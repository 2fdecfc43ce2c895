/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - the parser of specs: one function per line of the grammar, the first error sticks. */
#include "tune/rules.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/kept_text.h"
#include "model/registry.h"
#include "tune/auto.h"
#include "tune/impl.h"
#include "tune/parser.h"

/* The names of a list, for messages. */
static void list_collectives(char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "*, neighbor_*");
    for (int i = 0; i < CCO_COLLECTIVES && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, ", %s", cco_coll_infos[i].name);
}

static void parse_collective(cco_parser *p, cco_rule *rule)
{
    static const char near[] = "neighbor_";
    char possible[512];
    cco_parse_skip_blanks(p);
    const char *start = p->at;
    if (cco_parse_accept(p, '*')) {
        rule->collectives = cco_colls(false);
        return;
    }
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    const size_t length = (size_t)(p->at - start);
    if (length == sizeof near - 1 && strncasecmp(start, near, length) == 0 &&
        cco_parse_accept(p, '*')) {
        rule->collectives = cco_colls(true);
        return;
    }
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (strlen(cco_coll_infos[i].name) == length &&
            strncasecmp(start, cco_coll_infos[i].name, length) == 0) {
            rule->collectives = 1u << i;
            return;
        }
    list_collectives(possible, sizeof possible);
    const int shown = (int)(length < 40 ? length : 40);
    const char *next = start + length + strspn(start + length, " \t");
    if (length > 0 && (*next == '\0' || *next == ','))
        cco_parse_fail(p, start,
                       "no collective \"%.*s\"; a rule is COLLECTIVE=IMPLEMENTATION, such as"
                       " \"*=%.*s\"; collectives: %s",
                       shown, start, shown, start, possible);
    else
        cco_parse_fail(p, start,
                       length ? "no collective \"%.*s\"; possible: %s"
                              : "expected a collective%.*s; possible: %s",
                       shown, start, possible);
}

/* A size range stands only where all ranks know the size. */
static void check_sized(cco_parser *p, cco_rule *rule, const char *place)
{
    uint32_t sized = 0;
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (cco_coll_infos[i].properties & CCO_SIZED)
            sized |= 1u << i;
    if ((rule->collectives & sized) == 0)
        cco_parse_fail(p, place,
                       "%s has no size that every rank knows, so it cannot have a size range",
                       cco_coll_infos[__builtin_ctz(rule->collectives)].name);
    rule->collectives &= sized;
}

static void parse_pattern(cco_parser *p, cco_rule *rule)
{
    const size_t length = strcspn(p->at, "=,\n");
    size_t kept = length;
    while (kept > 0 && isspace((unsigned char)p->at[kept - 1]))
        kept--;
    if (kept == 0 || kept >= sizeof rule->pattern)
        cco_parse_fail(
            p, p->at,
            "expected the name of a communicator after @ (1 to %d characters; * stands for any)",
            (int)sizeof rule->pattern - 1);
    else
        memcpy(rule->pattern, p->at, kept);
    p->at += length;
}

static void parse_rule(cco_parser *p, cco_rule *rule)
{
    const char *start = p->at;
    *rule = (cco_rule){
        .max = LLONG_MAX, .processes_max = INT_MAX, .nodes_max = INT_MAX, .on_node_max = INT_MAX};
    parse_collective(p, rule);
    const char *range = p->at;
    if (cco_parse_accept(p, '[')) {
        cco_parse_range(p, CCO_BYTES, ']', LLONG_MAX, &rule->min, &rule->max);
        check_sized(p, rule, range);
    }
    if (cco_parse_accept(p, '(')) {
        MPI_Count low, high;
        cco_parse_range(p, CCO_PROCESSES, ')', INT_MAX, &low, &high);
        rule->processes_min = (int)low;
        rule->processes_max = (int)high;
    }
    if (cco_parse_accept(p, '{'))
        cco_parse_conditions(p, rule);
    if (cco_parse_accept(p, '@'))
        parse_pattern(p, rule);
    cco_parse_expect(p, '=', "the collective, its ranges and its communicator");
    if (!cco_parse_failed(p))
        cco_parse_impl(p, rule);
    snprintf(rule->text, sizeof rule->text, "%.*s", (int)(p->at - start < 95 ? p->at - start : 95),
             start);
}

/* Blank lines and comments. */
static void skip_lines(cco_parser *p)
{
    for (;; p->at++) {
        cco_parse_skip_blanks(p);
        if (*p->at == '#')
            p->at += strcspn(p->at, "\n");
        if (*p->at != '\n')
            return;
    }
}

/* Rules of a spec, at most: `auto` stands for several. */
static size_t most_rules(const char *spec)
{
    size_t most = 1;
    for (const char *c = spec; *c; c++)
        most += *c == ',' || *c == '\n';
    for (const char *c = spec; (c = strstr(c, CCO_IMPL_AUTO)) != NULL; c++)
        most += (size_t)cco_auto_most();
    return most;
}

/* Puts the rules that `auto` stands for in the place of a rule; returns how many. */
static int rules_expand(const cco_rule *rule, cco_rule *place)
{
    char spec[CCO_AUTO_SPEC], wrong[512];
    cco_auto_spec(spec, sizeof spec);
    cco_rules *measured = cco_rules_parse(spec, CCO_IMPL_AUTO, wrong, sizeof wrong);
    const int count = cco_auto_expand(measured, rule, place);
    free(measured);
    return count;
}

/* Adds the rule that comes next. */
static void add_rule(cco_parser *p, cco_rules *rules)
{
    cco_rule rule, *place = &rules->list[rules->count];
    parse_rule(p, &rule);
    if (!rule.automatic)
        *place = rule;
    rules->count += rule.automatic ? rules_expand(&rule, place) : 1;
}

cco_rules *cco_rules_keep_texts(cco_rules *rules)
{
    for (cco_rule *rule = rules->list; rule < rules->list + rules->count; rule++) {
        rule->kept_impl = cco_kept_text(rule->impl, "", "");
        rule->kept_why = cco_kept_text(rules->source, ": ", rule->text);
    }
    return rules;
}

cco_rules *cco_rules_parse(const char *spec, const char *source, char *error, size_t room)
{
    const size_t most = most_rules(spec);
    cco_rules *rules = calloc(1, sizeof *rules + most * sizeof rules->list[0]);
    if (rules == NULL) {
        snprintf(error, room, "%s: no memory for its rules", source);
        return NULL;
    }
    cco_parser p = {spec, spec, source, error, room};
    error[0] = '\0';
    snprintf(rules->source, sizeof rules->source, "%.63s", source);
    skip_lines(&p);
    while (*p.at != '\0' && !cco_parse_failed(&p)) {
        add_rule(&p, rules);
        cco_parse_skip_blanks(&p);
        if (*p.at == ',') {
            p.at++;
            skip_lines(&p);
            if (*p.at == '\0')
                cco_parse_fail(&p, p.at, "expected a rule after the comma");
        } else if (*p.at != '\0' && *p.at != '\n' && *p.at != '#') {
            cco_parse_fail(&p, p.at, "expected a comma or the end of the line after a rule");
        } else {
            skip_lines(&p);
        }
    }
    if (!cco_parse_failed(&p))
        return cco_rules_keep_texts(rules);
    free(rules);
    return NULL;
}

/* Greedy: a mismatch goes back to the last star only, so the time is that of the product of lengths
 * at most. */
bool cco_pattern_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool cco_rule_matches(const cco_rule *rule, cco_coll coll, const char *name, int size)
{
    return (rule->collectives >> coll & 1) && rule->processes_min <= size &&
           size <= rule->processes_max &&
           (rule->pattern[0] == '\0' || cco_pattern_matches(rule->pattern, name));
}

bool cco_rule_asks_nodes(const cco_rule *rule)
{
    return rule->nodes_min > 1 || rule->nodes_max != INT_MAX || rule->on_node_min > 1 ||
           rule->on_node_max != INT_MAX;
}

bool cco_rule_fits_nodes(const cco_rule *rule, const cco_nodes *nodes)
{
    return !cco_rule_asks_nodes(rule) ||
           (nodes->count > 0 && rule->nodes_min <= nodes->count &&
            nodes->count <= rule->nodes_max && rule->on_node_min <= nodes->ranks_min &&
            nodes->ranks_max <= rule->on_node_max);
}

bool cco_rules_are_plain(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (rules->list[i].model != cco_models[0])
            return false;
    return true;
}

bool cco_rules_may_replace(const cco_rules *rules)
{
    const uint32_t near = cco_colls(true);
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (rules->list[i].automatic && rules->list[i].collectives & near)
            return true;
    return false;
}
