/* SPDX-License-Identifier: BSD-3-Clause */
/* algo.h - an algorithm: for what problems it works, and how it builds a schedule.
 *
 * One file holds one algorithm, src/algo/<folder>/<name>.c defines `const cco_algo
 * cco_<folder>_<name>`, and registry.def has one line for each collective that it serves.  An
 * algorithm file includes this header and, if need be, algo/pattern/; it allocates nothing, moves
 * nothing and calls no MPI.  Those of node_algos.def need q->nodes, but for `refuses`. */
#ifndef CCO_ALGO_H
#define CCO_ALGO_H

#include "sched/problem.h"

typedef struct cco_algo {
    const char *name, *doc;
    /* NULL for problems that it can do; else why not, as it follows the algorithm's name: "needs an
     * even number of processes".  May use only what all ranks know, so that all say the same.  NULL
     * itself: it does all (cco_algo_refuses). */
    const char *(*refuses)(const cco_problem *q);
    void (*build)(cco_sched *s, const cco_problem *q);
    bool folds; /* combines all operands of an element at once, in a fixed order (cco_fold_into) */
    bool shares_counts; /* if sizes are not known, needs q->counts: see cco_algo_shares */
    cco_param params[CCO_PARAMS + 1];
} cco_algo;

static inline const char *cco_algo_refuses(const cco_algo *algo, const cco_problem *q)
{
    return algo->refuses != NULL ? algo->refuses(q) : NULL;
}

/* The `i`th algorithm of a collective, NULL after the last. */
const cco_algo *cco_algo_of(cco_coll coll, int i);

/* The `i`th algorithm for problems that tell nodes: first those that use them (node_algos.def). */
const cco_algo *cco_node_algo_of(cco_coll coll, int i);

/* The algorithm of a collective whose name is these `length` characters; NULL if there is none. */
const cco_algo *cco_algo_named(cco_coll coll, const char *name, size_t length);

/* True if it needs q->counts for this collective (problem.h), and ranks have to get them first:
 * of a gatherv or scatterv by the root, of an alltoallv or alltoallw, and of alltoalls of
 * neighbors, their reductions too, the leaders of nodes by their ranks. */
bool cco_algo_shares(const cco_algo *algo, cco_coll coll);

#endif
