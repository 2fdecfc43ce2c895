/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_element.c - algorithms that are wrong in one element, at one size, on one rank, instead
 * of those of the library that have their names: what CRESTA_VALIDATE and `crestacoll bisect` are
 * there for.  tests/python/spoilt.py preloads a library with them.
 *
 *     alltoall=p2p:pairwise, allreduce=p2p:ring   on rank 1, calls of WRONG_BYTES bytes: the 8
 *                                                 bytes in the middle of the last block are those
 *                                                 at its begin; with WRONG_HOW it breaks off */
#include <stdlib.h>

#include "algo/algo.h"
#include "algo/pattern/linear.h"
#include "algo/registry.h"

static bool is_meant(const cco_problem *q)
{
    const char *bytes = getenv("WRONG_BYTES");
    return q->rank == 1 && bytes != NULL && q->bytes == strtoul(bytes, NULL, 10);
}

/* Units of 8 bytes: what is moved has at least that. */
static void spoil(cco_sched *s, const cco_problem *q, cco_span block)
{
    const size_t unit = 8, at = block.n / (2 * unit) * unit;
    if (!is_meant(q) || at == 0)
        return;
    if (getenv("WRONG_HOW") != NULL)
        abort();
    cco_round(s);
    cco_copy(s, cco_part(s, block, 0, unit), cco_part(s, block, at, unit));
}

static void exchange(cco_sched *s, const cco_problem *q)
{
    cco_linear_exchange(s, q, 1);
    spoil(s, q, cco_block(q, &q->out, q->size - 1));
}

static void reduce(cco_sched *s, const cco_problem *q)
{
    cco_allreduce_reduce_bcast.build(s, q);
    spoil(s, q, cco_whole(&q->out));
}

const cco_algo cco_alltoall_pairwise = {
    .name = "pairwise", .doc = "wrong in one element", .build = exchange};
const cco_algo cco_allreduce_ring = {
    .name = "ring", .doc = "wrong in one element", .build = reduce};
