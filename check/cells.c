/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - see cells.h.  A new model or algorithm adds nothing here: the registries list them. */
#include "cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "model/registry.h"
#include "tune/rules.h"
#include "tune/impl.h"

static enum coll same_coll(cco_coll which)
{
    enum coll coll = 0;
    while (coll < COLLS && strcmp(coll_names[coll], cco_coll_infos[which].name) != 0)
        coll++;
    return coll;
}

static bool add(struct cells *cells, cco_coll which, const cco_way *way, const char *impl)
{
    enum { STEP = 64 };
    if (cells->count % STEP == 0) {
        struct cell *list = realloc(cells->list, (size_t)(cells->count + STEP) * sizeof *list);
        if (list == NULL)
            return false;
        cells->list = list;
    }
    struct cell *cell = &cells->list[cells->count++];
    *cell = (struct cell){.which = which, .coll = same_coll(which), .way = *way};
    snprintf(cell->impl, sizeof cell->impl, "%s", impl);
    return true;
}

/* Small enough to cut something, and not the preset. */
static long other_value(const cco_param *p)
{
    long value = p->preset + 1;
    if (p->names == NULL && p->preset >= 4096)
        value = 1000;
    else if (p->names == NULL && p->preset >= 8)
        value = p->preset / 8;
    return value > p->max ? p->min : value;
}

/* "?k=3", or by its name: "&order=random". */
static void put_value(char *text, const cco_param *p, long value)
{
    const size_t used = strlen(text);
    const char *name = p->names;
    const char before = strchr(text, '?') == NULL ? '?' : '&';
    for (long i = 0; name != NULL && i < value; i++)
        name = strchr(name, '|') + 1;
    if (name == NULL)
        snprintf(text + used, IMPL_ROOM - used, "%c%s=%ld", before, p->name, value);
    else
        snprintf(text + used, IMPL_ROOM - used, "%c%s=%.*s", before, p->name,
                 (int)strcspn(name, "|"), name);
}

static bool add_rule(struct cells *cells, const cco_rule *rule, uint32_t asked)
{
    cco_way way;
    for (int c = 0; c < CCO_COLLECTIVES; c++)
        if (asked & rule->collectives & 1U << c) {
            cco_rule_way(rule, (cco_coll)c, &way);
            if (!add(cells, (cco_coll)c, &way, rule->impl))
                return false;
        }
    return true;
}

/* What a word such as "p2p:ring" or "alltoall=nonblock" stands for. */
static bool add_spec(struct cells *cells, uint32_t asked, const char *prefix, const char *word)
{
    char spec[2 * IMPL_ROOM], error[1024];
    snprintf(spec, sizeof spec, "%s%s", prefix, word);
    cco_rules *rules = cco_rules_parse(spec, "--impl", error, sizeof error);
    if (rules == NULL) {
        fprintf(stderr, "crestacoll-check: %s\n", error);
        return false;
    }
    const bool good = add_rule(cells, &rules->list[0], asked);
    free(rules);
    return good;
}

/* A word that names no collective is for all that can: with an algorithm, few may. */
static bool add_word(struct cells *cells, uint32_t asked, const char *word)
{
    const uint32_t whole = asked & cco_colls(false), near = asked & cco_colls(true);
    if (word[strcspn(word, "=:?")] == '=')
        return add_spec(cells, asked, "", word);
    if (strchr(word, ':') != NULL)
        return add_spec(cells, asked, whole != 0 ? "*=" : "neighbor_*=", word);
    return (whole == 0 || add_spec(cells, whole, "*=", word)) &&
           (near == 0 || add_spec(cells, near, "neighbor_*=", word));
}

static bool add_words(struct cells *cells, uint32_t asked, const char *impls)
{
    char word[2 * IMPL_ROOM];
    for (const char *at = impls; *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length > 0 && !add_word(cells, asked, word))
            return false;
        at += length;
    }
    return true;
}

/* An algorithm with its preset parameters, and with others if it has some. */
static bool add_algorithm(struct cells *cells, cco_coll which, const cco_model *model,
                          const cco_algo *algo)
{
    char word[2 * IMPL_ROOM], impl[IMPL_ROOM];
    snprintf(impl, sizeof impl, "%s:%s", model->name, algo->name);
    for (int others = 0; others <= (algo->params[0].name != NULL); others++) {
        for (int k = 0; others && k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            put_value(impl, &algo->params[k], other_value(&algo->params[k]));
        snprintf(word, sizeof word, "%s=%s", cco_coll_infos[which].name, impl);
        if (!add_word(cells, 1U << which, word))
            return false;
    }
    return true;
}

static bool add_algorithms(struct cells *cells, uint32_t asked, const cco_model *model)
{
    const cco_algo *algo;
    for (int c = 0; c < CCO_COLLECTIVES && model->algorithms != NULL; c++)
        for (int i = 0; asked & 1U << c && (algo = model->algorithms((cco_coll)c, i)) != NULL; i++)
            if (!add_algorithm(cells, (cco_coll)c, model, algo))
                return false;
    return true;
}

/* A model with each value that its options have besides the preset ones, and with the last of each
 * together. */
static bool add_options(struct cells *cells, uint32_t asked, const cco_model *model)
{
    char impl[IMPL_ROOM], last[IMPL_ROOM];
    int options = 0;
    snprintf(last, sizeof last, "%s", model->name);
    for (const cco_param *p = model->options; p != NULL && p->name != NULL; p++, options++) {
        for (long value = p->min; p->names != NULL && value <= p->max; value++) {
            snprintf(impl, sizeof impl, "%s", model->name);
            put_value(impl, p, value);
            if (value != p->preset && !add_word(cells, asked, impl))
                return false;
        }
        put_value(last, p, p->names != NULL ? p->max : other_value(p));
    }
    return options < 2 || add_word(cells, asked, last);
}

/* A model for all that is asked, also if this build lacks it: that has to be reported. */
static bool add_model(struct cells *cells, uint32_t asked, const cco_model *model, bool all)
{
    const cco_way way = {.model = model};
    if (model->lacking == NULL)
        return add_word(cells, asked, model->name) &&
               (!all || (add_options(cells, asked, model) && add_algorithms(cells, asked, model)));
    for (int c = 0; c < CCO_COLLECTIVES; c++)
        if (asked & 1U << c && !add(cells, (cco_coll)c, &way, model->name))
            return false;
    return true;
}

static bool read_collectives(const char *names, uint32_t *asked)
{
    *asked = names == NULL ? ~0U : 0;
    for (const char *at = names; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        int c = 0;
        while (c < CCO_COLLECTIVES && (strlen(cco_coll_infos[c].name) != length ||
                                       strncmp(cco_coll_infos[c].name, at, length) != 0))
            c++;
        if (c == CCO_COLLECTIVES) {
            fprintf(stderr, "crestacoll-check: no collective '%.*s'\n", (int)length, at);
            return false;
        }
        *asked |= 1U << c;
        at += length;
    }
    return true;
}

bool cells_make(struct cells *cells, const char *collectives, const char *impls, bool all)
{
    uint32_t asked;
    *cells = (struct cells){0};
    if (!read_collectives(collectives, &asked))
        return false;
    if (impls != NULL)
        return add_words(cells, asked, impls);
    for (int i = 0; cco_models[i] != NULL; i++)
        if (!add_model(cells, asked, cco_models[i], all))
            return false;
    return true;
}

void cells_free(struct cells *cells)
{
    free(cells->list);
    *cells = (struct cells){0};
}

static const char *refusal(const cco_way *way, cco_coll which, int size)
{
    return way->model->refuses != NULL ? way->model->refuses(way, which, size) : NULL;
}

const char *cell_refused(const struct cell *cell, int size, const char **instead)
{
    cco_way way = cell->way;
    *instead = NULL;
    if (way.model->lacking != NULL)
        return way.model->lacking;
    const char *const why = refusal(&way, cell->which, size);
    while (refusal(&way, cell->which, size) != NULL) { /* the ladder */
        way = (cco_way){.model = way.algo != NULL ? way.model : way.model->below};
        *instead = way.model->name;
    }
    return why;
}
