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

#include "native/registry.h"

typedef struct parser {
    const char *spec, *at; /* all of it; what comes next */
    const char *source;
    char *error;
    size_t room;
} parser;

static bool failed(const parser *p)
{
    return p->error[0] != '\0';
}

/* Says what is wrong at `place`, with the line it stands in. */
__attribute__((format(printf, 3, 4))) static void fail(parser *p, const char *place,
                                                       const char *format, ...)
{
    if (failed(p))
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

static void skip_blanks(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
        p->at++;
}

static bool accept(parser *p, char c)
{
    skip_blanks(p);
    if (failed(p) || *p->at != c)
        return false;
    p->at++;
    return true;
}

static void expect(parser *p, char c, const char *after)
{
    if (!accept(p, c))
        fail(p, p->at, "expected '%c' after %s", c, after);
}

/* The names of a list, for messages. */
static void list_collectives(char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "*");
    for (int i = 0; i < CCO_COLLECTIVES && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, ", %s", cco_coll_infos[i].name);
}

static void list_models(char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; cco_models[i] != NULL && used < room; i++)
        if (cco_models[i]->lacking == NULL)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "",
                                     cco_models[i]->name);
}

static void parse_collective(parser *p, cco_rule *rule)
{
    char possible[512];
    skip_blanks(p);
    const char *start = p->at;
    if (accept(p, '*')) {
        rule->collectives = (1u << CCO_COLLECTIVES) - 1;
        return;
    }
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    const size_t length = (size_t)(p->at - start);
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (strlen(cco_coll_infos[i].name) == length &&
            strncasecmp(start, cco_coll_infos[i].name, length) == 0) {
            rule->collectives = 1u << i;
            return;
        }
    list_collectives(possible, sizeof possible);
    fail(p, start,
         length ? "no collective \"%.*s\"; possible: %s"
                : "expected a collective%.*s; possible: %s",
         (int)(length < 40 ? length : 40), start, possible);
}

/* A number; with `units`, in bytes, with K, M or G. */
static MPI_Count parse_number(parser *p, MPI_Count inf, bool units)
{
    skip_blanks(p);
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
        fail(p, start,
             units ? "expected a size: digits, then K, M or G if need be, or inf"
                   : "expected a number of processes, or inf");
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
        fail(p, start, "this number is too large; write inf for no limit");
    return value;
}

/* "low-high" or "value", up to the closing bracket. */
static void parse_range(parser *p, char close, MPI_Count inf, MPI_Count *low, MPI_Count *high)
{
    skip_blanks(p);
    const char *start = p->at;
    *low = parse_number(p, inf, close == ']');
    *high = accept(p, '-') ? parse_number(p, inf, close == ']') : *low;
    expect(p, close, "a range");
    if (*low > *high)
        fail(p, start, "this range ends before it begins");
}

/* A size range stands only where all ranks know the size. */
static void check_sized(parser *p, cco_rule *rule, const char *place)
{
    uint32_t sized = 0;
    for (int i = 0; i < CCO_COLLECTIVES; i++)
        if (cco_coll_infos[i].properties & CCO_SIZED)
            sized |= 1u << i;
    if ((rule->collectives & sized) == 0)
        fail(p, place, "%s has no size that every rank knows, so it cannot have a size range",
             cco_coll_infos[__builtin_ctz(rule->collectives)].name);
    rule->collectives &= sized;
}

static void parse_pattern(parser *p, cco_rule *rule)
{
    const size_t length = strcspn(p->at, "=,\n");
    size_t kept = length;
    while (kept > 0 && isspace((unsigned char)p->at[kept - 1]))
        kept--;
    if (kept == 0 || kept >= sizeof rule->pattern)
        fail(p, p->at,
             "expected the name of a communicator after @ (1 to %d characters; * stands for any)",
             (int)sizeof rule->pattern - 1);
    else
        memcpy(rule->pattern, p->at, kept);
    p->at += length;
}

static const cco_model *find_model(const char *name, size_t length)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (strlen(cco_models[i]->name) == length &&
            strncmp(cco_models[i]->name, name, length) == 0)
            return cco_models[i];
    return NULL;
}

static void parse_impl(parser *p, cco_rule *rule)
{
    char possible[256];
    skip_blanks(p);
    const char *start = p->at;
    const size_t length = strcspn(start, ", \t\r\n#"), name = strcspn(start, ":?, \t\r\n#");
    list_models(possible, sizeof possible);
    rule->model = find_model(start, name);
    if (rule->model == NULL)
        fail(p, start,
             name ? "no implementation \"%.*s\"; possible: %s"
                  : "expected an implementation%.*s; possible: %s",
             (int)(name < 40 ? name : 40), start, possible);
    else if (rule->model->lacking != NULL)
        fail(p, start, "%s cannot be used: %s; possible: %s", rule->model->name,
             rule->model->lacking, possible);
    else if (name < length)
        fail(p, start + name, "%s has neither algorithms nor parameters", rule->model->name);
    snprintf(rule->impl, sizeof rule->impl, "%.*s", (int)(length < 63 ? length : 63), start);
    p->at += length;
}

static void parse_rule(parser *p, cco_rule *rule)
{
    const char *start = p->at;
    *rule = (cco_rule){.max = LLONG_MAX, .processes_max = INT_MAX, .pattern = ""};
    parse_collective(p, rule);
    const char *range = p->at;
    if (accept(p, '[')) {
        parse_range(p, ']', LLONG_MAX, &rule->min, &rule->max);
        check_sized(p, rule, range);
    }
    if (accept(p, '(')) {
        MPI_Count low, high;
        parse_range(p, ')', INT_MAX, &low, &high);
        rule->processes_min = (int)low;
        rule->processes_max = (int)high;
    }
    if (accept(p, '@'))
        parse_pattern(p, rule);
    expect(p, '=', "the collective, its ranges and its communicator");
    if (!failed(p))
        parse_impl(p, rule);
    snprintf(rule->text, sizeof rule->text, "%.*s", (int)(p->at - start < 95 ? p->at - start : 95),
             start);
}

/* Blank lines and comments. */
static void skip_lines(parser *p)
{
    for (;; p->at++) {
        skip_blanks(p);
        if (*p->at == '#')
            p->at += strcspn(p->at, "\n");
        if (*p->at != '\n')
            return;
    }
}

cco_rules *cco_rules_parse(const char *spec, const char *source, char *error, size_t room)
{
    size_t most = 1;
    for (const char *c = spec; *c; c++)
        most += *c == ',' || *c == '\n';
    cco_rules *rules = calloc(1, sizeof *rules + most * sizeof rules->list[0]);
    if (rules == NULL) {
        snprintf(error, room, "%s: no memory for its rules", source);
        return NULL;
    }
    parser p = {spec, spec, source, error, room};
    error[0] = '\0';
    snprintf(rules->source, sizeof rules->source, "%.63s", source);
    skip_lines(&p);
    while (*p.at != '\0' && !failed(&p)) {
        parse_rule(&p, &rules->list[rules->count++]);
        skip_blanks(&p);
        if (*p.at == ',') {
            p.at++;
            skip_lines(&p);
            if (*p.at == '\0')
                fail(&p, p.at, "expected a rule after the comma");
        } else if (*p.at != '\0' && *p.at != '\n' && *p.at != '#') {
            fail(&p, p.at, "expected a comma or the end of the line after a rule");
        } else {
            skip_lines(&p);
        }
    }
    if (!failed(&p))
        return rules;
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

bool cco_rules_are_plain(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (rules->list[i].model != cco_models[0])
            return false;
    return true;
}
