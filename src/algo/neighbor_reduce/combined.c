/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce "combined": neighbor_allgather "combined" to scratch, and then the reduction in
 * the order of the sources.
 *
 *   messages 1 per neighbouring rank   bytes sent per rank n for each of these   scratch n d
 *
 * d: edges that end here. */
#include "algo/algo.h"

#include "algo/pattern/near_reduction.h"
#include "algo/registry.h"

static const char *refuses(const cco_problem *q)
{
    (void)q;
    return NULL;
}

static void build(cco_sched *s, const cco_problem *q)
{
    cco_near_reduction(s, q, &cco_neighbor_allgather_combined);
}

const cco_algo cco_neighbor_reduce_combined = {
    .name = "combined",
    .doc = "a message for each neighbouring rank",
    .refuses = refuses,
    .build = build,
};
