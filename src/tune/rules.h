/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.h - a spec such as "alltoall[4K-1M]@row=nonblock,*=mpi" as data.  Grammar:
 * docs/choosing.md. */
#ifndef CCO_RULES_H
#define CCO_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/comm.h"
#include "comm/model.h"

typedef struct cco_rule {
    uint32_t collectives; /* bit per collective */
    MPI_Count min, max;   /* bytes, both included */
    int processes_min, processes_max;
    int nodes_min, nodes_max;     /* nodes of the communicator; */
    int on_node_min, on_node_max; /* its ranks on each of them */
    unsigned classes;             /* that a call must have (reduce/classes.h) */
    char pattern[64];             /* communicator names; "*" stands for any characters */
    const cco_model *model;
    bool automatic;     /* `auto`: chosen by measurements (tune/auto.h) */
    char algorithm[32]; /* "" if it names none */
    struct {
        char name[16];
        long value;
    } params[CCO_PARAMS + CCO_OPTIONS]; /* "" for none */
    char impl[64];                      /* as written */
    char text[96];                      /* the whole rule, as written */
    const char *kept_impl, *kept_why;   /* that, and source and rule, for choices */
} cco_rule;

typedef struct cco_rules {
    char source[64]; /* where they come from, for messages */
    int count;
    cco_rule list[];
} cco_rules;

/* Parses `spec`.  Returns rules to be freed with free(); on an error NULL, and `error` names the
 * place and what is possible. */
cco_rules *cco_rules_parse(const char *spec, const char *source, char *error, size_t room);

/* Complete rules: keeps their texts, which live longer than they.  Returns them. */
cco_rules *cco_rules_keep_texts(cco_rules *rules);

/* True if `rule` speaks of `coll` on a communicator of that name and size, for some message size.
 */
bool cco_rule_matches(const cco_rule *rule, cco_coll coll, const char *name, int size);

/* True if the rule depends on the nodes of a communicator. */
bool cco_rule_asks_nodes(const cco_rule *rule);

/* True if it holds for such nodes; if they are not known, only a rule that does not ask does. */
bool cco_rule_fits_nodes(const cco_rule *rule, const cco_nodes *nodes);

/* True if `text` is `pattern`, in which "*" stands for any characters. */
bool cco_pattern_matches(const char *pattern, const char *text);

/* True if no rule names anything but `mpi`. */
bool cco_rules_are_plain(const cco_rules *rules);

/* True if one leaves neighborhood collectives to `auto`, which replaces those that the MPI gets
 * wrong on a topology. */
bool cco_rules_may_replace(const cco_rules *rules);

#endif
