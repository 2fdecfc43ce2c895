/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning_rule.c - see tuning_rule.h.
 *
 * The members are composed to the text of a rule, which the parser of specs takes: so what a file
 * can say, and what is reported of errors, is the same as in CRESTA_IMPL. */
#include "tune/tuning_rule.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLLECTIVE,
    BYTES,
    RANKS,
    NODES,
    RANKS_PER_NODE,
    TYPE,
    OPERATION,
    COMMUNICATOR,
    IMPLEMENTATION,
    KNOWN
};

static const char *const names[KNOWN] = {"collective", "bytes",          "ranks",
                                         "nodes",      "ranks_per_node", "type",
                                         "operation",  "communicator",   "implementation"};

enum { CONDITIONS = 320 }; /* characters of all in braces: ranges and classes have few */

/* A rule as it stands in the file, and where each of its members begins; NULL for those that it has
 * not. */
typedef struct draft {
    const char *start, *place[KNOWN];
    char collective[64], type[64], operation[64], communicator[64], implementation[64];
    long long bytes[2], ranks[2], nodes[2], ranks_per_node[2];
} draft;

static void tuning_rule_read_text(cco_json *json, const char *what, char text[64])
{
    const char *place = cco_json_place(json);
    if (cco_json_string(json, what, text, 64) && *text == '\0')
        cco_json_fail(json, place, "%s is empty", what);
}

/* The end of a range, which may be open. */
static void read_end(cco_json *json, const char *what, long long inf, long long *number)
{
    char word[8];
    const char *place = cco_json_place(json);
    *number = inf;
    if (cco_json_peek(json) != CCO_JSON_STRING)
        cco_json_whole(json, what, number);
    else if (cco_json_string(json, what, word, sizeof word) && strcmp(word, "inf") != 0)
        cco_json_fail(json, place, "the end of a range is a number or \"inf\"");
}

/* [least, most] or [least, "inf"] */
static void read_range(cco_json *json, const char *what, long long inf, long long range[2])
{
    const char *place = cco_json_place(json);
    int count = 0;
    for (cco_json_open(json, CCO_JSON_ARRAY); cco_json_element(json); count++) {
        if (count == 0)
            cco_json_whole(json, what, &range[0]);
        else if (count == 1)
            read_end(json, what, inf, &range[1]);
        else
            cco_json_skip(json);
    }
    if (count != 2)
        cco_json_fail(json, place, "%s must be two numbers: the least and the most", what);
    else if (range[0] > range[1])
        cco_json_fail(json, place, "this range of %s ends before it begins", what);
    else if (range[1] > inf)
        cco_json_fail(json, place, "%s are at most %lld; write \"inf\" for no limit", what, inf);
}

static void read_known(cco_json *json, draft *d, int which)
{
    switch (which) {
    case COLLECTIVE:
        tuning_rule_read_text(json, names[which], d->collective);
        break;
    case BYTES:
        read_range(json, names[which], LLONG_MAX, d->bytes);
        break;
    case RANKS:
        read_range(json, names[which], INT_MAX, d->ranks);
        break;
    case NODES:
        read_range(json, names[which], INT_MAX, d->nodes);
        break;
    case RANKS_PER_NODE:
        read_range(json, names[which], INT_MAX, d->ranks_per_node);
        break;
    case TYPE:
        tuning_rule_read_text(json, names[which], d->type);
        break;
    case OPERATION:
        tuning_rule_read_text(json, names[which], d->operation);
        break;
    case COMMUNICATOR:
        tuning_rule_read_text(json, names[which], d->communicator);
        break;
    default:
        tuning_rule_read_text(json, "implementation", d->implementation);
    }
}

/* How a rule was earned, and remarks: for people and tools. */
static bool is_remark(const char *name)
{
    return strcmp(name, "earned") == 0 || strcmp(name, "changes_rounding") == 0 ||
           strcmp(name, "note") == 0;
}

/* A condition that is not known must not be passed over: the rule would hold for too much. */
static void read_members(cco_json *json, draft *d)
{
    char name[64];
    for (;;) {
        int which = 0;
        if (!cco_json_member(json, name, sizeof name))
            return;
        while (which < KNOWN && strcmp(names[which], name) != 0)
            which++;
        if (which < KNOWN && d->place[which] != NULL)
            cco_json_fail(json, json->name, "\"%s\" stands here twice", name);
        else if (which == KNOWN && !is_remark(name))
            cco_json_fail(json, json->name,
                          "a rule has no member \"%s\"; possible: collective, bytes, ranks, "
                          "nodes, ranks_per_node, type, operation, communicator, implementation, "
                          "changes_rounding, note, earned",
                          name);
        if (which == KNOWN) {
            cco_json_skip(json);
        } else {
            d->place[which] = cco_json_place(json);
            read_known(json, d, which);
        }
    }
}

/* "4096-inf" and the like, between two texts; nothing for a range that takes all. */
static void compose_range(char text[80], const char *before, const long long range[2],
                          const char *behind, long long least, long long inf)
{
    char end[32] = "inf";
    text[0] = '\0';
    if (range[0] <= least && range[1] == inf)
        return;
    if (range[1] != inf)
        snprintf(end, sizeof end, "%lld", range[1]);
    snprintf(text, 80, "%s%lld-%s%s", before, range[0], end, behind);
}

/* The parser's error again, now with the place in the file: to find that takes time, which
 * thousands of right rules must not. */
static void tuning_rule_refuse(cco_json *json, const char *place, const char *text)
{
    int line, column;
    char source[400];
    cco_json_where(json, place, &line, &column);
    snprintf(source, sizeof source, "%.300s: line %d, column %d", json->source, line, column);
    free(cco_rules_parse(text, source, json->error, json->room));
}

/* Lets the parser of specs take a text, for which one member of the rule answers. */
static bool tuning_rule_parse(cco_json *json, const char *place, const char *text, cco_rule *rule)
{
    if (cco_json_failed(json))
        return false;
    cco_rules *rules = cco_rules_parse(text, json->source, json->error, json->room);
    if (rules != NULL)
        *rule = rules->list[0];
    else
        tuning_rule_refuse(json, place, text);
    free(rules);
    return rules != NULL;
}

/* The parser would take more than one rule, and comments; here each text is one word. */
static void check_word(cco_json *json, const char *place, const char *what, const char *text,
                       const char *without)
{
    const size_t length = strcspn(text, without);
    if (text[length] != '\0')
        cco_json_fail(json, place, "%s cannot hold '%c'", what, text[length]);
}

/* One more in the braces, which the parser takes for itself first. */
static bool add_condition(cco_json *json, const draft *d, int which, const char *value,
                          char braces[CONDITIONS], cco_rule *rule)
{
    char text[512];
    const size_t used = strlen(braces);
    if (*value == '\0')
        return true;
    check_word(json, d->place[which], names[which], value, " ,=#{}&@[](");
    snprintf(text, sizeof text, "%s{%s=%s}=mpi", d->collective, names[which], value);
    snprintf(braces + used, CONDITIONS - used, "%c%s=%s", used > 0 ? '&' : '{', names[which],
             value);
    return tuning_rule_parse(json, d->place[which], text, rule);
}

/* "{nodes=2-4&type=floating}", or nothing. */
static bool compose_conditions(cco_json *json, const draft *d, char braces[CONDITIONS],
                               cco_rule *rule)
{
    char nodes[80], per_node[80];
    braces[0] = '\0';
    compose_range(nodes, "", d->nodes, "", 1, INT_MAX);
    compose_range(per_node, "", d->ranks_per_node, "", 1, INT_MAX);
    const bool good = add_condition(json, d, NODES, nodes, braces, rule) &&
                      add_condition(json, d, RANKS_PER_NODE, per_node, braces, rule) &&
                      add_condition(json, d, TYPE, d->type, braces, rule) &&
                      add_condition(json, d, OPERATION, d->operation, braces, rule);
    if (good && braces[0] != '\0')
        strcat(braces, "}");
    return good;
}

/* First the collective by itself, then with its ranges, then all: so each error has the place of
 * the member that brings it. */
static bool parse_draft(cco_json *json, const draft *d, cco_rule *rule)
{
    char bytes[80], ranks[80], braces[CONDITIONS], text[1024];
    const char *place = d->place[COLLECTIVE], *const at = d->communicator[0] != '\0' ? "@" : "";
    check_word(json, place, "collective", d->collective, " ,=#[]({@");
    check_word(json, d->place[IMPLEMENTATION], "implementation", d->implementation, " ,#");
    compose_range(bytes, "[", d->bytes, "]", 0, LLONG_MAX);
    compose_range(ranks, "(", d->ranks, ")", 1, INT_MAX);
    snprintf(text, sizeof text, "%s=mpi", d->collective);
    if (!tuning_rule_parse(json, place, text, rule))
        return false;
    place = d->place[BYTES] != NULL ? d->place[BYTES] : d->start;
    snprintf(text, sizeof text, "%s%s%s=mpi", d->collective, bytes, ranks);
    if (!tuning_rule_parse(json, place, text, rule) || !compose_conditions(json, d, braces, rule))
        return false;
    snprintf(text, sizeof text, "%s%s%s%s=%s", d->collective, bytes, ranks, braces,
             d->implementation);
    if (!tuning_rule_parse(json, d->place[IMPLEMENTATION], text, rule))
        return false;
    /* A name of a communicator may have characters that would end it in a spec. */
    snprintf(rule->pattern, sizeof rule->pattern, "%s", d->communicator);
    snprintf(text, sizeof text, "%s%s%s%s%s%s=%s", d->collective, bytes, ranks, braces, at,
             d->communicator, d->implementation);
    snprintf(rule->text, sizeof rule->text, "%.95s", text);
    return true;
}

bool cco_tuning_rule(cco_json *json, cco_rule *rule)
{
    draft d = {.bytes = {0, LLONG_MAX},
               .ranks = {1, INT_MAX},
               .nodes = {1, INT_MAX},
               .ranks_per_node = {1, INT_MAX}};
    d.start = cco_json_place(json);
    if (!cco_json_open(json, CCO_JSON_OBJECT))
        return false;
    read_members(json, &d);
    if (d.place[COLLECTIVE] == NULL)
        cco_json_fail(json, d.start, "this rule has no \"collective\"");
    if (d.place[IMPLEMENTATION] == NULL)
        cco_json_fail(json, d.start, "this rule has no \"implementation\"");
    return !cco_json_failed(json) && parse_draft(json, &d, rule);
}
