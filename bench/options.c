/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - the command line of crestacoll-bench. People use `crestacoll bench`, which expands
 * sizes and names. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bench_buffers_name(enum bench_buffers buffers)
{
    static const char *const names[] = {"hot", "cold", "written"};
    return names[buffers];
}

static char **split(const char *list, int *n)
{
    char *copy = strdup(list), *save = NULL;
    char **words = calloc(strlen(list) + 1, sizeof *words);
    *n = 0;
    if (copy && words)
        for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save))
            words[(*n)++] = strdup(w);
    free(copy);
    return words;
}

static void free_words(char **words, int n)
{
    for (int i = 0; i < n; i++)
        free(words[i]);
    free(words);
}

static const char *add_rules(struct bench_options *o, const char *value)
{
    const char *sign = strchr(value, '=');
    if (o->n_rules == BENCH_RULES || sign == NULL || sign == value)
        return "--rules takes NAME=SPEC, eight times at most";
    o->rules[o->n_rules++] = value;
    return NULL;
}

static const char *read_buffers(struct bench_options *o, const char *list)
{
    int n;
    char **words = split(list, &n);
    o->n_buffers = 0;
    for (int i = 0; i < n; i++)
        for (int k = BENCH_HOT; k < BENCH_BUFFERS && o->n_buffers < BENCH_BUFFERS; k++)
            if (!strcmp(words[i], bench_buffers_name((enum bench_buffers)k)))
                o->each_buffers[o->n_buffers++] = (enum bench_buffers)k;
    free_words(words, n);
    return n > 0 && o->n_buffers == n ? NULL : "--buffers takes hot, cold, written, once each";
}

static void read_sizes(struct bench_options *o, const char *list)
{
    char **words = split(list, &o->n_sizes);
    free(o->sizes);
    o->sizes = calloc((size_t)o->n_sizes + 1, sizeof *o->sizes);
    for (int i = 0; o->sizes && i < o->n_sizes; i++)
        o->sizes[i] = strtoull(words[i], NULL, 10);
    free_words(words, o->n_sizes);
}

/* NULL, or what is wrong with this option. */
static const char *read_one(struct bench_options *o, const char *name, const char *value)
{
    if (!strcmp(name, "--collectives"))
        o->collectives = split(value, &o->n_collectives);
    else if (!strcmp(name, "--impl"))
        o->impls = split(value, &o->n_impls);
    else if (!strcmp(name, "--rules"))
        return add_rules(o, value);
    else if (!strcmp(name, "--sizes"))
        read_sizes(o, value);
    else if (!strcmp(name, "--timing"))
        o->timing = strcmp(value, "synchronised") ? BENCH_BACK_TO_BACK : BENCH_SYNCHRONISED;
    else if (!strcmp(name, "--samples"))
        o->samples = atoi(value);
    else if (!strcmp(name, "--budget"))
        o->budget = atof(value);
    else if (!strcmp(name, "--batch-us"))
        o->batch_us = atof(value);
    else if (!strcmp(name, "--skew"))
        o->skew_us = atof(value);
    else if (!strcmp(name, "--root"))
        o->rotate = strcmp(value, "fixed") != 0;
    else if (!strcmp(name, "--buffers"))
        return read_buffers(o, value);
    else if (!strcmp(name, "--calls"))
        o->begun = strcmp(value, "begun") == 0;
    else if (!strcmp(name, "--rounds"))
        o->rounds = atoi(value);
    else if (!strcmp(name, "--work"))
        o->work = atof(value);
    else if (!strcmp(name, "--async"))
        o->async = value;
    else if (!strcmp(name, "--procs"))
        o->procs = value;
    else if (!strcmp(name, "--topology"))
        o->topology = value;
    else if (!strcmp(name, "--label"))
        o->label = value;
    else
        return name;
    return NULL;
}

const char *bench_options_read(struct bench_options *o, int argc, char **argv)
{
    *o = (struct bench_options){.samples = 200,
                                .budget = 60,
                                .batch_us = 50,
                                .rotate = 1,
                                .n_buffers = 1,
                                .work = 1,
                                .async = "thread",
                                .label = "mpi"};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *unknown = read_one(o, argv[i], argv[i + 1]);
        if (unknown)
            return unknown;
    }
    if (argc % 2 == 0)
        return "an option without a value";
    if (!o->n_collectives || !o->n_impls || !o->n_sizes || o->samples < 1)
        return "--collectives, --impl, --sizes and --samples need something in them";
    if (o->skew_us < 0 || (o->skew_us > 0 && o->timing != BENCH_SYNCHRONISED))
        return "--skew goes with --timing synchronised, and is not below 0";
    return NULL;
}

void bench_options_free(struct bench_options *o)
{
    free_words(o->collectives, o->n_collectives);
    free_words(o->impls, o->n_impls);
    free(o->sizes);
}
