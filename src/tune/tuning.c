/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.c - see tuning.h.
 *
 * The members of a rule are composed to its text, which the parser of specs takes: so what a file
 * can say, and what is reported of errors, is the same as in CRESTA_IMPL. */
#include "tune/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>

static void read_head(cco_tuning *tuning, int head)
{
    enum { MACHINE, MPI, CPU = 0, CORES };
    static const char *const about[] = {"machine", "mpi", NULL}, *const cores[] = {"cpu", "cores",
                                                                                   NULL};
    static const cco_json_members head_has = {"the head", about, 3, true};
    static const cco_json_members machine_has = {"the machine", cores, 3, true};
    cco_json *json = &tuning->json;
    int of_head[2], of_machine[2];
    cco_json_object(json, head, &head_has, of_head);
    cco_json_object(json, of_head[MACHINE], &machine_has, of_machine);
    cco_json_string(json, of_machine[CPU], "cpu", tuning->made.cpu, sizeof tuning->made.cpu);
    cco_json_whole(json, of_machine[CORES], "cores", &tuning->made.cores);
    cco_json_string(json, of_head[MPI], "mpi", tuning->made.mpi, sizeof tuning->made.mpi);
}

bool cco_tuning_read(cco_tuning *tuning, const char *text, size_t length, const char *source,
                     char *error, size_t room)
{
    enum { SCHEMA, HEAD, RULES, PARTS };
    static const char *const parts[] = {"schema", "head", "rules", NULL};
    static const cco_json_members any_has = {"a tuning file", parts, 1, true};
    static const cco_json_members file_has = {"a tuning file", parts, 7, false};
    char schema[64];
    int part[PARTS];
    cco_json *json = &tuning->json;
    *tuning = (cco_tuning){.made.cores = 0};
    cco_json_parse(json, text, length, source, error, room);
    cco_json_object(json, 0, &any_has, part);
    cco_json_string(json, part[SCHEMA], "schema", schema, sizeof schema);
    if (strcmp(schema, CCO_TUNING_SCHEMA) != 0)
        cco_json_fail(json, part[SCHEMA], "this is \"%s\"; this version of crestacoll reads \"%s\"",
                      schema, CCO_TUNING_SCHEMA);
    cco_json_object(json, 0, &file_has, part);
    read_head(tuning, part[HEAD]);
    cco_json_array(json, part[RULES], "rules");
    tuning->rules = part[RULES];
    return !cco_json_failed(json);
}

cco_rules *cco_tuning_rules(cco_tuning *tuning, const char *name)
{
    cco_json *json = &tuning->json;
    const int count = cco_json_array(json, tuning->rules, "rules");
    cco_rules *rules = calloc(1, sizeof *rules + (size_t)count * sizeof rules->list[0]);
    if (rules == NULL)
        cco_json_fail(json, tuning->rules, "no memory for these rules");
    else
        snprintf(rules->source, sizeof rules->source, "%s", name);
    for (int at = tuning->rules + 1; rules != NULL && rules->count < count;
         at = cco_json_next(json, at))
        if (!cco_tuning_rule(json, at, &rules->list[rules->count++]))
            break;
    if (!cco_json_failed(json))
        return cco_rules_keep_texts(rules);
    free(rules);
    return NULL;
}

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
