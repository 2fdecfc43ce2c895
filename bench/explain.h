/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h - what crestacoll-explain is asked, and what it counts. */
#ifndef BENCH_EXPLAIN_H
#define BENCH_EXPLAIN_H

#include <stdint.h>

#include "algo/algo.h"
#include "config/config.h"
#include "even.h"

typedef struct explain_options {
    cco_coll coll;
    const cco_algo *algo; /* NULL: all that the collective has */
    long params[CCO_PARAMS];
    size_t bytes;
    int size, root, schedule; /* the rank whose steps are shown; -1: none */
    cco_node_shape node;      /* that has all ranks, one core after the other; no cores: any */
    cco_neighbors *near;      /* of all ranks, in neighbourhood collectives; else NULL */
    cco_node_map *nodes;      /* where ranks are on several; NULL: not said */
} explain_options;

/* True, or what is wrong, with what is possible, is on standard error. */
bool explain_options_read(explain_options *o, int argc, char **argv);

/* The `i`th algorithm of the collective, NULL after the last; where nodes are said, those that know
 * them come first. */
const cco_algo *explain_algo(const explain_options *o, int i);

enum { ROUNDS, SENT, RECEIVED, BYTES_SENT, BYTES_RECEIVED, COPIED, REDUCED, SCRATCH, FIGURES };

typedef struct explain_rank {
    uint64_t figures[FIGURES];
} explain_rank;

/* The schedules of all ranks, run. */
typedef struct explained {
    const cco_sched **schedules;
    explain_rank *ranks;
    int size, chain;
    uint64_t messages, bytes;
    uint64_t caches, memories; /* messages to another cache of the node; of these, memory */
    uint64_t messages_between, bytes_between; /* nodes */
    const char *reason;                       /* why the algorithm cannot do it; NULL if it can */
    bool too_large;
    char why[256]; /* "", or what is wrong; too_large: with the question */
} explained;

void explain_run(explained *x, const cco_algo *algo, const long *params, even *e,
                 const explain_options *o);
void explain_free(explained *x);

#endif
