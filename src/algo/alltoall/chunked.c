/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall, alltoallv, alltoallw "chunked": chunk by chunk of every block, one message at a time.
 *
 *   messages n/chunk for each block of n bytes but one, one a round
 *   bytes sent per rank all blocks but one   scratch 0
 *
 * For the largest blocks: what a transport holds is bounded by the chunk.  Each pair of ranks cuts
 * by the size of its own block.  `order` is that of peers for each chunk: by distance, by distances
 * shuffled alike on all ranks, or by exclusive or. */
#include "algo/algo.h"

#include "algo/pattern/chunked.h"

static void alltoall_chunked_build(cco_sched *s, const cco_problem *q)
{
    cco_chunked_exchange(s, q, q->params[0], q->params[1], q->params[2]);
}

const cco_algo cco_alltoall_chunked = {
    .name = "chunked",
    .doc = "chunk by chunk of every block, one message at a time",
    .build = alltoall_chunked_build,
    .params = {{"chunk", 65536, 1, 1 << 30, "bytes of a chunk"},
               {"order", 0, 0, 2, "of peers: by distance, shuffled, by exclusive or",
                "ring|random|xor"},
               {"seed", 1, 0, 1 << 30, "of the shuffled order"}},
};
