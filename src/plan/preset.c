/* SPDX-License-Identifier: BSD-3-Clause */
/* preset.c - the algorithm of a user who names none.
 *
 * After the choices of R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective
 * communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19 (2005): fewest rounds
 * for small messages, fewest bytes for large ones.  Limits are not tuned to a machine: that is what
 * rules are for. */
#include "plan/preset.h"

#include <stdint.h>

#include "algo/registry.h"
#include "sched/neighbor_mates.h"

typedef struct preset {
    cco_coll coll;
    size_t most; /* bytes of the call (docs/design.md, "Bytes of a call"), included */
    const cco_algo *algo;
} preset;

/* The first that fits and can do the problem; the last of a collective can do every one. */
static const preset presets[] = {
    {CCO_BARRIER, SIZE_MAX, &cco_barrier_dissemination},
    {CCO_BCAST, 12288, &cco_bcast_binomial},
    {CCO_BCAST, SIZE_MAX, &cco_bcast_scatter_allgather},
    {CCO_GATHER, 2048, &cco_gather_binomial},
    {CCO_GATHER, SIZE_MAX, &cco_gather_linear},
    {CCO_GATHERV, SIZE_MAX, &cco_gather_linear},
    {CCO_SCATTER, 2048, &cco_scatter_binomial},
    {CCO_SCATTER, SIZE_MAX, &cco_scatter_linear},
    {CCO_SCATTERV, SIZE_MAX, &cco_scatter_linear},
    {CCO_REDUCE, 2048, &cco_reduce_binomial},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_rabenseifner},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_binomial},
    {CCO_ALLGATHER, 4096, &cco_allgather_bruck},
    {CCO_ALLGATHER, SIZE_MAX, &cco_allgather_ring},
    {CCO_ALLGATHERV, SIZE_MAX, &cco_allgather_ring},
    {CCO_ALLREDUCE, 2048, &cco_allreduce_recursive_doubling},
    {CCO_ALLREDUCE, SIZE_MAX, &cco_allreduce_rabenseifner},
    {CCO_REDUCE_SCATTER, 524288, &cco_reduce_scatter_recursive_halving},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_pairwise},
    {CCO_REDUCE_SCATTER_BLOCK, 16384, &cco_reduce_scatter_recursive_halving},
    {CCO_REDUCE_SCATTER_BLOCK, SIZE_MAX, &cco_reduce_scatter_pairwise},
    {CCO_ALLTOALL, 256, &cco_alltoall_bruck},
    {CCO_ALLTOALL, 32768, &cco_alltoall_linear},
    {CCO_ALLTOALL, SIZE_MAX, &cco_alltoall_pairwise},
    {CCO_ALLTOALLV, SIZE_MAX, &cco_alltoall_linear},
    {CCO_ALLTOALLW, SIZE_MAX, &cco_alltoall_linear},
    {CCO_SCAN, SIZE_MAX, &cco_scan_recursive_doubling},
    {CCO_EXSCAN, SIZE_MAX, &cco_exscan_recursive_doubling},
    {CCO_NEIGHBOR_ALLGATHER, SIZE_MAX, &cco_neighbor_allgather_combined},
    {CCO_NEIGHBOR_ALLGATHERV, SIZE_MAX, &cco_neighbor_allgather_combined},
    {CCO_NEIGHBOR_ALLTOALL, SIZE_MAX, &cco_neighbor_alltoall_combined},
    {CCO_NEIGHBOR_ALLTOALLV, SIZE_MAX, &cco_neighbor_alltoall_combined},
    {CCO_NEIGHBOR_ALLTOALLW, SIZE_MAX, &cco_neighbor_alltoall_combined},
    {CCO_NEIGHBOR_REDUCE, SIZE_MAX, &cco_neighbor_reduce_combined},
    {CCO_NEIGHBOR_ALLTOALL_REDUCE, SIZE_MAX, &cco_neighbor_alltoall_reduce_combined},
    {.algo = NULL},
};

/* The presets where ranks are on several nodes: fewest messages between nodes for small data, for
 * large ones fewest bytes, and all ranks of a node at work. */
static const preset node_presets[] = {
    {CCO_BARRIER, SIZE_MAX, &cco_barrier_leaders},
    {CCO_BCAST, 32768, &cco_bcast_leaders},
    {CCO_BCAST, SIZE_MAX, &cco_bcast_pipeline},
    {CCO_GATHER, 16384, &cco_gather_leaders},
    {CCO_SCATTER, 16384, &cco_scatter_leaders},
    {CCO_REDUCE, 32768, &cco_reduce_leaders},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_pipeline},
    {CCO_REDUCE, SIZE_MAX, &cco_reduce_leaders},
    {CCO_ALLGATHER, 16384, &cco_allgather_leaders},
    {CCO_ALLGATHER, SIZE_MAX, &cco_allgather_lanes},
    {CCO_ALLGATHER, SIZE_MAX, &cco_allgather_leaders},
    {CCO_ALLGATHERV, SIZE_MAX, &cco_allgather_lanes},
    {CCO_ALLGATHERV, SIZE_MAX, &cco_allgather_leaders},
    {CCO_ALLREDUCE, 16384, &cco_allreduce_leaders},
    {CCO_ALLREDUCE, SIZE_MAX, &cco_allreduce_lanes},
    {CCO_ALLREDUCE, SIZE_MAX, &cco_allreduce_leaders},
    {CCO_REDUCE_SCATTER, 16384, &cco_reduce_scatter_leaders},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_lanes},
    {CCO_REDUCE_SCATTER, SIZE_MAX, &cco_reduce_scatter_leaders},
    {CCO_REDUCE_SCATTER_BLOCK, 4096, &cco_reduce_scatter_leaders},
    {CCO_REDUCE_SCATTER_BLOCK, SIZE_MAX, &cco_reduce_scatter_lanes},
    {CCO_REDUCE_SCATTER_BLOCK, SIZE_MAX, &cco_reduce_scatter_leaders},
    {CCO_ALLTOALL, 1024, &cco_alltoall_leaders},
    {CCO_ALLTOALL, 4096, &cco_alltoall_lanes},
    {CCO_ALLTOALL, SIZE_MAX, &cco_alltoall_linear},
    {CCO_ALLTOALL, 16384, &cco_alltoall_lanes},
    {CCO_SCAN, SIZE_MAX, &cco_scan_leaders},
    {CCO_EXSCAN, SIZE_MAX, &cco_exscan_leaders},
    {CCO_NEIGHBOR_ALLGATHER, SIZE_MAX, &cco_neighbor_allgather_leaders},
    {CCO_NEIGHBOR_ALLGATHERV, SIZE_MAX, &cco_neighbor_allgather_leaders},
    {CCO_NEIGHBOR_REDUCE, SIZE_MAX, &cco_neighbor_reduce_leaders},
    {.algo = NULL},
};

/* All ranks know what a reduce_scatter reduces, though not as one size of a block. */
static size_t preset_bytes_of(const cco_problem *q)
{
    size_t bytes = q->bytes;
    for (int i = 0; q->coll == CCO_REDUCE_SCATTER && i < q->size; i++)
        bytes += cco_block(q, &q->in, i).n;
    return bytes;
}

/* Among node_presets: what leaders of an alltoall sort, block by block, must not take longer than
 * messages; nor may too many messages get in each other's way.  Leaders among neighbors have to
 * save messages between nodes. */
static bool is_much(const cco_problem *q, const cco_algo *algo)
{
    enum { BLOCKS = 4096, PEERS = 32 };
    return (algo == &cco_alltoall_leaders && (long)q->nodes->most * q->size > BLOCKS) ||
           (algo == &cco_alltoall_linear && q->size > PEERS) ||
           (cco_is_neighbor(q->coll) && !q->near->mates->spare);
}

/* Bruck's rounds save no messages among so few ranks, and cost copies. */
static bool saves_nothing(const cco_problem *q, const cco_algo *algo)
{
    enum { FEW = 3 };
    return q->size <= FEW && (algo == &cco_allgather_bruck || algo == &cco_alltoall_bruck);
}

static const cco_algo *preset_find(const preset *list, const cco_problem *q)
{
    const size_t bytes = preset_bytes_of(q);
    const bool by_nodes = list == node_presets;
    while (list->algo != NULL &&
           (list->coll != q->coll || bytes > list->most ||
            cco_algo_refuses(list->algo, q) != NULL || saves_nothing(q, list->algo) ||
            (by_nodes && is_much(q, list->algo))))
        list++;
    return list->algo;
}

const cco_algo *cco_preset_algo(const cco_problem *q, bool by_nodes)
{
    const cco_node_map *map = q->nodes;
    const bool several = by_nodes && map != NULL && map->count > 1 && map->count < map->size;
    const cco_algo *algo = several ? preset_find(node_presets, q) : NULL;
    return algo != NULL ? algo : preset_find(presets, q);
}
