/* SPDX-License-Identifier: BSD-3-Clause */
/* node_blocks.c - see node_blocks.h. */
#include "algo/pattern/node_blocks.h"

static size_t pattern_node_blocks_bytes_of(const cco_node_blocks *b, int rank)
{
    return b->n != NULL ? b->n[rank] : b->each;
}

/* The blocks from place `first` to `end` - 1 of the list of ranks by node. */
static size_t pattern_node_blocks_between(const cco_node_blocks *b, int first, int end)
{
    size_t n = 0;
    if (b->n == NULL)
        return (size_t)(end - first) * b->each;
    for (int i = first; i < end; i++)
        n += b->n[b->q->nodes->ranks[i]];
    return n;
}

size_t cco_node_bytes(const cco_node_blocks *b, int node)
{
    return pattern_node_blocks_between(b, b->q->nodes->first[node], b->q->nodes->first[node + 1]);
}

size_t cco_all_bytes(const cco_node_blocks *b)
{
    return pattern_node_blocks_between(b, 0, b->q->size);
}

/* Bytes before the blocks of a node. */
static size_t start_of(const cco_node_blocks *b, int node)
{
    return b->own ? 0 : pattern_node_blocks_between(b, 0, b->q->nodes->first[node]);
}

cco_span cco_of_node(cco_sched *s, const cco_node_blocks *b, int node)
{
    return cco_part(s, b->all, start_of(b, node), cco_node_bytes(b, node));
}

cco_span cco_of_rank(cco_sched *s, const cco_node_blocks *b, int rank)
{
    const cco_node_map *map = b->q->nodes;
    const int node = map->node[rank], first = map->first[node];
    return cco_part(s, b->all,
                    start_of(b, node) +
                        pattern_node_blocks_between(b, first, first + map->place[rank]),
                    pattern_node_blocks_bytes_of(b, rank));
}

cco_side cco_side_of_nodes(cco_sched *s, const cco_node_blocks *b)
{
    const int count = b->q->nodes->count;
    cco_span *blocks = cco_block_list(s, count);
    size_t at = 0;
    for (int k = 0; k < count && blocks != NULL; k++) {
        const size_t n = cco_node_bytes(b, k);
        blocks[k] = cco_part(s, b->all, at, n);
        at += n;
    }
    return cco_side_blocks(s, blocks, count);
}

cco_side cco_side_of_node(cco_sched *s, const cco_node_blocks *b)
{
    const cco_group node = cco_node_group(b->q);
    cco_span *blocks = cco_block_list(s, node.size);
    for (int i = 0; i < node.size && blocks != NULL; i++)
        blocks[i] = cco_of_rank(s, b, node.ranks[i]);
    return cco_side_blocks(s, blocks, node.size);
}

const size_t *cco_counts_of_node(cco_sched *s, const cco_node_blocks *b)
{
    const cco_group node = cco_node_group(b->q);
    size_t *counts = cco_builder_memory(s, (size_t)node.size * sizeof *counts);
    for (int i = 0; i < node.size && counts != NULL; i++)
        counts[i] = pattern_node_blocks_bytes_of(b, node.ranks[i]);
    return counts;
}

const size_t *cco_counts_of_nodes(cco_sched *s, const cco_node_blocks *b)
{
    const int count = b->q->nodes->count;
    size_t *counts = cco_builder_memory(s, (size_t)count * sizeof *counts);
    for (int k = 0; k < count && counts != NULL; k++)
        counts[k] = cco_node_bytes(b, k);
    return counts;
}

static void copy_all(cco_sched *s, const cco_node_blocks *b, const cco_side *side, bool back)
{
    const cco_node_map *map = b->q->nodes;
    size_t at = 0;
    for (int i = 0; i < map->size; i++) {
        const cco_span block = cco_block(b->q, side, map->ranks[i]);
        const cco_span there = cco_part(s, b->all, at, block.n);
        cco_copy(s, back ? there : block, back ? block : there);
        at += block.n;
    }
}

void cco_to_nodes(cco_sched *s, const cco_node_blocks *b, const cco_side *from)
{
    copy_all(s, b, from, false);
}

void cco_from_nodes(cco_sched *s, const cco_node_blocks *b, const cco_side *to)
{
    copy_all(s, b, to, true);
}
