/* SPDX-License-Identifier: BSD-3-Clause */
/* useful.h - what ranks compute: their time outside the MPI, which POP calls useful, as sums over
 * ranks and over the ranks of each node.
 *
 * From these follow the efficiencies of POP and, by node, of TALP
 * (python/crestacoll_tools/profile/efficiency.py). */
#ifndef CCO_CALLS_USEFUL_H
#define CCO_CALLS_USEFUL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A rank, and the first one on its node, in MPI_COMM_WORLD. */
typedef struct cco_useful_place {
    int rank, node; /* node: -1: not known */
} cco_useful_place;

/* The ranks of one node, named by the first of all that are there. */
typedef struct cco_useful_node {
    int32_t first, ranks;
    double us, us_max;
} cco_useful_node;

/* elapsed_us: the longest time of a rank in which calls were counted. */
typedef struct cco_useful_sum {
    int32_t ranks, nodes, min_rank, max_rank;
    double us, us_min, us_max, elapsed_us;
} cco_useful_sum;

/* `nodes` are in the order of their first ranks.  `sum.nodes`: -1: they are not known. */
typedef struct cco_useful {
    cco_useful_sum sum;
    cco_useful_node *nodes;
} cco_useful;

/* One rank has this.  What was there before is dropped. */
void cco_useful_begin(cco_useful *u, cco_useful_place at, double us, double elapsed_us);

/* Adds that of other ranks, in any order. */
void cco_useful_add(cco_useful *u, const cco_useful_sum *sum, const cco_useful_node *nodes);

/* As a member of the profile. */
void cco_useful_put(FILE *file, const cco_useful *u);

#endif
