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

/* In the order in which they stand in a rule.  Behind these come remarks: for people and tools. */
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
    KNOWN,
    REMARKS = 3
};

static const char *const names[KNOWN + REMARKS + 1] = {"collective",
                                                       "bytes",
                                                       "ranks",
                                                       "nodes",
                                                       "ranks_per_node",
                                                       "type",
                                                       "operation",
                                                       "communicator",
                                                       "implementation",
                                                       "changes_rounding",
                                                       "note",
                                                       "earned",
                                                       NULL};

/* What members that are words cannot hold: the parser would take more than one rule, and comments.
 */
static const char *const forbidden[KNOWN] = {[COLLECTIVE] = " ,=#[]({@",
                                             [TYPE] = " ,=#{}&@[](",
                                             [OPERATION] = " ,=#{}&@[](",
                                             [IMPLEMENTATION] = " ,#"};

static const char *const opens[KNOWN] = {"", "[", "(", "", ""}, *const closes[KNOWN] = {
                                                                    "", "]", ")", "", ""};

enum { PART = 80, RULE = 1024 };

static void tuning_read_word(cco_json *json, int token, int which, char word[PART])
{
    enum { LONGEST = 64 };
    cco_json_string(json, token, names[which], word, LONGEST);
    if (word[0] == '\0')
        cco_json_fail(json, token, "%s is empty", names[which]);
    const size_t length = forbidden[which] != NULL ? strcspn(word, forbidden[which]) : strlen(word);
    if (word[length] != '\0')
        cco_json_fail(json, token, "%s cannot hold '%c'", names[which], word[length]);
}

/* [least, most] or [least, "inf"] as "4096-inf"; nothing for a range that takes all. */
static void tuning_read_range(cco_json *json, int token, int which, char text[PART])
{
    const char *what = names[which];
    const long long inf = which == BYTES ? LLONG_MAX : INT_MAX;
    long long least = 0, most = inf;
    char end[24] = "inf";
    if (cco_json_array(json, token, what) != 2)
        cco_json_fail(json, token, "%s must be two numbers: the least and the most", what);
    cco_json_whole(json, token + 1, what, &least);
    if (!cco_json_failed(json) && !cco_json_is(json, token + 2, end)) {
        cco_json_whole(json, token + 2, "the end of a range, unless it is \"inf\",", &most);
        snprintf(end, sizeof end, "%lld", most);
    }
    if (least > most)
        cco_json_fail(json, token, "this range of %s ends before it begins", what);
    if (most > inf)
        cco_json_fail(json, token, "%s are at most %lld; write \"inf\" for no limit", what, inf);
    if (least > (which == BYTES ? 0 : 1) || most != inf)
        snprintf(text, PART, "%s%lld-%s%s", opens[which], least, end, closes[which]);
}

/* A rule with its members up to `last`, as in CRESTA_IMPL. */
static void tuning_compose(char parts[KNOWN][PART], int last, const char *communicator,
                           char text[RULE])
{
    char conditions[4 * (PART + 16)] = "";
    for (int i = NODES; i <= OPERATION && i <= last; i++)
        if (parts[i][0] != '\0')
            snprintf(conditions + strlen(conditions), sizeof conditions - strlen(conditions),
                     "%c%s=%s", conditions[0] != '\0' ? '&' : '{', names[i], parts[i]);
    snprintf(text, RULE, "%s%s%s%s%s%s%s=%s", parts[COLLECTIVE], last >= BYTES ? parts[BYTES] : "",
             last >= RANKS ? parts[RANKS] : "", conditions, conditions[0] != '\0' ? "}" : "",
             communicator[0] != '\0' ? "@" : "", communicator,
             last >= IMPLEMENTATION ? parts[IMPLEMENTATION] : "mpi");
}

/* The parser's error again, now with the place in the file of the member that brings it.  To find
 * that takes time, which thousands of right rules must not. */
static void tuning_refuse(cco_json *json, const int *value, char parts[KNOWN][PART])
{
    char source[400], text[RULE];
    cco_rules *rules = NULL;
    for (int i = 0; i < KNOWN; i++) {
        int line, column;
        if (value[i] == 0)
            continue;
        cco_json_where(json, value[i], &line, &column);
        snprintf(source, sizeof source, "%.300s: line %d, column %d", json->source, line, column);
        tuning_compose(parts, i, "", text);
        free(rules);
        rules = cco_rules_parse(text, source, json->error, json->room);
        if (rules == NULL)
            return;
    }
    free(rules);
}

bool cco_tuning_rule(cco_json *json, int token, cco_rule *rule)
{
    static const cco_json_members has = {"this rule", names, 1 << COLLECTIVE | 1 << IMPLEMENTATION,
                                         false};
    char parts[KNOWN][PART] = {""}, text[RULE];
    int value[KNOWN + REMARKS];
    cco_json_object(json, token, &has, value);
    for (int i = 0; i < KNOWN; i++)
        if (value[i] != 0 && BYTES <= i && i <= RANKS_PER_NODE)
            tuning_read_range(json, value[i], i, parts[i]);
        else if (value[i] != 0)
            tuning_read_word(json, value[i], i, parts[i]);
    if (cco_json_failed(json))
        return false;
    tuning_compose(parts, IMPLEMENTATION, "", text);
    cco_rules *rules = cco_rules_parse(text, json->source, json->error, json->room);
    if (rules == NULL) {
        tuning_refuse(json, value, parts);
        return false;
    }
    *rule = rules->list[0];
    free(rules);
    /* A name of a communicator may have characters that would end it in a spec. */
    snprintf(rule->pattern, sizeof rule->pattern, "%.63s", parts[COMMUNICATOR]);
    tuning_compose(parts, IMPLEMENTATION, parts[COMMUNICATOR], text);
    snprintf(rule->text, sizeof rule->text, "%.95s", text);
    return true;
}
