/* SPDX-License-Identifier: BSD-3-Clause */
/* impl.c - the implementation that a rule names: cco_parse_impl of parser.h. */
#include "tune/impl.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "algo/algo.h"
#include "model/registry.h"

enum { LIST = 512 }; /* characters of what is possible */

/* Adds a name to a list for a message, once. */
static void impl_add(char *list, const char *name)
{
    const size_t used = strlen(list), length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return;
    snprintf(list + used, LIST - used, "%s%s", used > 0 ? ", " : "", name);
}

static void list_models(char *list)
{
    list[0] = '\0';
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->lacking == NULL)
            impl_add(list, cco_models[i]->name);
    impl_add(list, CCO_IMPL_AUTO);
}

static bool impl_concerns(const cco_rule *rule, int coll)
{
    return rule->collectives >> coll & 1;
}

/* The algorithm that a rule names, for a collective; NULL if there is none. */
static const cco_algo *algorithm_of(const cco_rule *rule, cco_coll coll)
{
    const cco_algo *algo = NULL;
    for (int i = 0; rule->algorithm[0] != '\0' && rule->model->algorithms != NULL; i++) {
        algo = rule->model->algorithms(coll, i);
        if (algo == NULL || strcmp(algo->name, rule->algorithm) == 0)
            break;
    }
    return algo;
}

static const cco_model *find_model(const char *name, size_t length)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (strlen(cco_models[i]->name) == length &&
            strncmp(cco_models[i]->name, name, length) == 0)
            return cco_models[i];
    return NULL;
}

static size_t impl_word(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return n;
}

static void parse_model(cco_parser *p, cco_rule *rule)
{
    char possible[LIST];
    const size_t length = strcspn(p->at, ":?, \t\r\n#");
    list_models(possible);
    rule->automatic = length == strlen(CCO_IMPL_AUTO) && strncmp(p->at, CCO_IMPL_AUTO, length) == 0;
    rule->model = rule->automatic ? cco_models[0] : find_model(p->at, length);
    if (rule->model == NULL)
        cco_parse_fail(p, p->at,
                       length ? "no implementation \"%.*s\"; possible: %s"
                              : "expected an implementation%.*s; possible: %s",
                       (int)(length < 40 ? length : 40), p->at, possible);
    else if (rule->model->lacking != NULL)
        cco_parse_fail(p, p->at, "%s cannot be used: %s; possible: %s", rule->model->name,
                       rule->model->lacking, possible);
    p->at += length;
}

/* The name after the colon.  A rule for several collectives keeps those that know it. */
static void parse_algorithm(cco_parser *p, cco_rule *rule)
{
    char possible[LIST] = "";
    const cco_algo *algo;
    uint32_t having = 0;
    const size_t length = impl_word(p->at);
    snprintf(rule->algorithm, sizeof rule->algorithm, "%.*s", (int)(length < 31 ? length : 31),
             p->at);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        if (!impl_concerns(rule, coll))
            continue;
        having |= (uint32_t)(algorithm_of(rule, (cco_coll)coll) != NULL) << coll;
        for (int i = 0; rule->model->algorithms != NULL &&
                        (algo = rule->model->algorithms((cco_coll)coll, i)) != NULL;
             i++)
            impl_add(possible, algo->name);
    }
    if (having == 0)
        cco_parse_fail(p, p->at,
                       length ? "%s has no algorithm \"%.*s\" for this; possible: %s"
                              : "expected an algorithm of %s%.*s; possible: %s",
                       rule->model->name, (int)(length < 40 ? length : 40), p->at,
                       possible[0] != '\0' ? possible : "none");
    rule->collectives = having;
    p->at += length;
}

static const cco_param *find_in(const cco_param *list, const char *name, size_t length)
{
    for (; list != NULL && list->name != NULL; list++)
        if (strlen(list->name) == length && strncmp(list->name, name, length) == 0)
            return list;
    return NULL;
}

/* A parameter of the algorithm that a rule names for a collective, or of its model. */
static const cco_param *find_param(const cco_rule *rule, cco_coll coll, const char *name,
                                   size_t length)
{
    const cco_algo *algo = algorithm_of(rule, coll);
    const cco_param *found = algo != NULL ? find_in(algo->params, name, length) : NULL;
    return found != NULL ? found : find_in(rule->model->options, name, length);
}

static void add_names(char *list, const cco_param *params)
{
    for (; params != NULL && params->name != NULL; params++)
        impl_add(list, params->name);
}

/* A parameter of this name; of several collectives, the rule keeps those whose algorithm has it.
 * NULL, and an error, if none has. */
static const cco_param *keep_those_with(cco_parser *p, cco_rule *rule, size_t length)
{
    const cco_param *found = NULL;
    char possible[LIST] = "";
    uint32_t having = 0;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        if (!impl_concerns(rule, coll))
            continue;
        const cco_algo *algo = algorithm_of(rule, (cco_coll)coll);
        const cco_param *param = find_param(rule, (cco_coll)coll, p->at, length);
        having |= (uint32_t)(param != NULL) << coll;
        found = param != NULL ? param : found;
        add_names(possible, algo != NULL ? algo->params : NULL);
        add_names(possible, rule->model->options);
    }
    if (found == NULL)
        cco_parse_fail(p, p->at, "%s%s%s has no parameter \"%.*s\"; possible: %s",
                       rule->model->name, rule->algorithm[0] != '\0' ? ":" : "", rule->algorithm,
                       (int)(length < 40 ? length : 40), p->at,
                       possible[0] != '\0' ? possible : "none");
    rule->collectives = having;
    return found;
}

/* A value must be within the limits of every collective that the rule concerns. */
static void check_limits(cco_parser *p, const cco_rule *rule, const char *name, const char *place,
                         long value)
{
    for (int coll = 0; coll < CCO_COLLECTIVES && !cco_parse_failed(p); coll++) {
        if (!impl_concerns(rule, coll))
            continue;
        const cco_param *param = find_param(rule, (cco_coll)coll, name, strlen(name));
        if (value < param->min || value > param->max)
            cco_parse_fail(p, place, "%s must be %ld to %ld", name, param->min, param->max);
    }
}

/* One of the names that a parameter has for its values; -1 if it is none. */
static long named_value(const cco_param *param, const char *text, size_t length)
{
    long value = 0;
    for (const char *name = param->names; name != NULL; value++) {
        const size_t n = strcspn(name, "|");
        if (n == length && strncmp(name, text, n) == 0)
            return value;
        name = name[n] == '|' ? name + n + 1 : NULL;
    }
    return -1;
}

static long parse_value(cco_parser *p, const cco_param *param)
{
    const char *start = p->at;
    const size_t length = impl_word(start);
    const long named = named_value(param, start, length);
    if (named >= 0) {
        p->at += length;
        return named;
    }
    if (param->names != NULL) {
        cco_parse_fail(p, start, "%s must be one of %s", param->name, param->names);
        return param->preset;
    }
    if (!isdigit((unsigned char)*start))
        cco_parse_fail(p, start, "expected a number, with K, M or G if need be: %ld to %ld",
                       param->min, param->max);
    return (long)cco_parse_number(p, LONG_MAX, CCO_BYTES);
}

static void parse_param(cco_parser *p, cco_rule *rule, int i)
{
    const size_t length = impl_word(p->at);
    if (i == CCO_PARAMS + CCO_OPTIONS) {
        cco_parse_fail(p, p->at, "there are at most %d parameters", CCO_PARAMS + CCO_OPTIONS);
        return;
    }
    const cco_param *param = keep_those_with(p, rule, length);
    if (param == NULL)
        return;
    for (int k = 0; k < i; k++)
        if (strcmp(rule->params[k].name, param->name) == 0)
            cco_parse_fail(p, p->at, "%s is given twice", param->name);
    p->at += length;
    cco_parse_expect(p, '=', "a parameter");
    snprintf(rule->params[i].name, sizeof rule->params[i].name, "%s", param->name);
    const char *place = p->at;
    rule->params[i].value = parse_value(p, param);
    if (!cco_parse_failed(p))
        check_limits(p, rule, param->name, place, rule->params[i].value);
}

void cco_parse_impl(cco_parser *p, cco_rule *rule)
{
    cco_parse_skip_blanks(p);
    const char *start = p->at;
    parse_model(p, rule);
    if (!cco_parse_failed(p) && (*p->at == ':' || *p->at == '?') &&
        rule->model->algorithms == NULL && rule->model->options == NULL)
        cco_parse_fail(p, p->at, "%s has neither algorithms nor parameters",
                       rule->automatic ? CCO_IMPL_AUTO : rule->model->name);
    if (cco_parse_accept(p, ':'))
        parse_algorithm(p, rule);
    const char *question = p->at;
    if (cco_parse_accept(p, '?')) {
        if (rule->algorithm[0] == '\0' && rule->model->options == NULL)
            cco_parse_fail(p, question, "parameters belong to an algorithm: %s:NAME?...",
                           rule->model->name);
        for (int i = 0; !cco_parse_failed(p) && (i == 0 || cco_parse_accept(p, '&')); i++)
            parse_param(p, rule, i);
    }
    while (p->at > start && strchr(" \t\r", p->at[-1]) != NULL) /* of a search for ':' or '&' */
        p->at--;
    if (!cco_parse_failed(p) && p->at - start >= (ptrdiff_t)sizeof rule->impl)
        cco_parse_fail(p, start, "this implementation is longer than %d characters",
                       (int)sizeof rule->impl - 1);
    snprintf(rule->impl, sizeof rule->impl, "%.*s", (int)(p->at - start < 63 ? p->at - start : 63),
             start);
}

/* The values that a rule gives to a list of parameters. */
static void give_values(const cco_rule *rule, const cco_param *list, long *values)
{
    for (; list != NULL && list->name != NULL; list++, values++) {
        *values = list->preset;
        for (int i = 0; i < CCO_PARAMS + CCO_OPTIONS; i++)
            if (strcmp(rule->params[i].name, list->name) == 0)
                *values = rule->params[i].value;
    }
}

void cco_rule_way(const cco_rule *rule, cco_coll coll, cco_way *way)
{
    *way = (cco_way){.model = rule->model,
                     .algo = algorithm_of(rule, coll),
                     .automatic = rule->automatic && rule->model != cco_models[0]};
    give_values(rule, way->algo != NULL ? way->algo->params : NULL, way->params);
    give_values(rule, way->model->options, way->options);
}
