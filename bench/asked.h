/* SPDX-License-Identifier: BSD-3-Clause */
/* asked.h - how programs about schedules are asked: collectives, algorithms, nodes.  What is wrong,
 * with what is possible, is printed on standard error. */
#ifndef BENCH_ASKED_H
#define BENCH_ASKED_H

#include "algo/algo.h"

/* Always false: a line on standard error. */
__attribute__((format(printf, 1, 2))) bool asked_wrong(const char *format, ...);

bool asked_number(const char *what, const char *text, long long min, long long max, long long *to);

/* A collective that has algorithms: one of neighbours where a topology is said, else another. */
bool asked_collective(const char *name, bool near, cco_coll *coll);

/* The `i`th algorithm of a collective, NULL after the last; by nodes, those that know them come
 * first. */
const cco_algo *asked_algo(cco_coll coll, bool by_nodes, int i);

/* "bruck", "bruck?k=3&more=4": takes the text apart. */
bool asked_algorithm(cco_coll coll, bool by_nodes, char *text, const cco_algo **algo, long *params);

/* Nodes as CRESTA_NODES has them (base/imposed_nodes.h); NULL if they are wrong. */
cco_node_map *asked_nodes(const char *text, int size);

#endif
