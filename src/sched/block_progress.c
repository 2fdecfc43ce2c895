/* SPDX-License-Identifier: BSD-3-Clause */
/* block_progress.c - see block_progress.h. */
#include "sched/block_progress.h"

#include <stdlib.h>

/* A block: its memory, and the last round that writes it, -1 if none does. */
typedef struct target {
    int block, round;
    ptrdiff_t start, end;
    int first, count; /* in `messages`: those of that round which bring the block, or parts of it */
} target;

struct cco_block_progress_map {
    int blocks;
    target *targets; /* in the order of rounds */
    int *messages;
};

/* A message that brings a part of a target. */
typedef struct part {
    int target, round, message;
} part;

/* What is collected from the steps. */
typedef struct collected {
    cco_base base;
    target *targets; /* in the order of memory */
    int count;
    part *parts;
    size_t parts_count, parts_room;
    bool failed;
} collected;

static int by_memory(const void *a, const void *b)
{
    const target *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->end > y->end) - (x->end < y->end);
}

static int by_round(const void *a, const void *b)
{
    const target *x = a, *y = b;
    return x->round != y->round ? x->round - y->round : x->block - y->block;
}

/* The first target whose memory ends behind a place. */
static int block_progress_find(const collected *c, ptrdiff_t at)
{
    int low = 0, high = c->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (c->targets[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void block_progress_add_part(collected *c, part one)
{
    if (c->parts_count == c->parts_room) {
        const size_t room = 2 * c->parts_room + 64;
        part *more = realloc(c->parts, room * sizeof *more);
        if (more == NULL) {
            c->failed = true;
            return;
        }
        c->parts = more;
        c->parts_room = room;
    }
    c->parts[c->parts_count++] = one;
}

/* Rounds come in order, so that the last one stays. */
static void block_progress_visit(void *visitor, int round, int message, cco_base base, ptrdiff_t at,
                                 size_t n)
{
    collected *c = visitor;
    if (base != c->base || n == 0)
        return;
    for (int i = block_progress_find(c, at);
         i < c->count && c->targets[i].start < at + (ptrdiff_t)n; i++) {
        c->targets[i].round = round;
        if (message != CCO_NO_MESSAGE)
            block_progress_add_part(c, (part){i, round, message});
    }
}

/* Puts the messages of each target's last round together. */
static void sort_parts(cco_block_progress_map *map, const collected *c)
{
    int next = 0;
    for (size_t i = 0; i < c->parts_count; i++)
        map->targets[c->parts[i].target].count += c->parts[i].round ==
                                                  map->targets[c->parts[i].target].round;
    for (int i = 0; i < map->blocks; i++) {
        map->targets[i].first = next;
        next += map->targets[i].count;
        map->targets[i].count = 0;
    }
    for (size_t i = 0; i < c->parts_count; i++) {
        target *t = &map->targets[c->parts[i].target];
        if (c->parts[i].round == t->round)
            map->messages[t->first + t->count++] = c->parts[i].message;
    }
}

/* Empty blocks overlap nothing: they come last, where no search finds them. */
static void block_progress_list_targets(collected *c, const cco_problem *q)
{
    const cco_layout *layout = &q->layouts[q->out.layout];
    int filled = 0, empty = q->out.blocks;
    for (int i = 0; i < q->out.blocks; i++) {
        const cco_span span = cco_block(q, &q->out, i);
        const ptrdiff_t n = (ptrdiff_t)(span.n / layout->size) * layout->extent;
        c->targets[n > 0 ? filled++ : --empty] = (target){i, -1, span.at, span.at + n, 0, 0};
    }
    c->count = filled;
    qsort(c->targets, (size_t)filled, sizeof *c->targets, by_memory);
}

cco_block_progress_map *cco_block_progress_map_new(const cco_engine *e, const cco_problem *q)
{
    if (!cco_engine_tells(e) || q->layouts[q->out.layout].extent <= 0)
        return NULL;
    const size_t room = (size_t)q->out.blocks + 1;
    cco_block_progress_map *map = calloc(1, sizeof *map);
    collected c = {.base = q->out.base};
    if (map == NULL)
        return NULL;
    map->blocks = q->out.blocks;
    c.targets = map->targets = calloc(room, sizeof *map->targets);
    c.failed = map->targets == NULL;
    if (!c.failed) {
        block_progress_list_targets(&c, q);
        cco_engine_each_write(e, q->layouts, block_progress_visit, &c);
        map->messages = malloc((c.parts_count + 1) * sizeof *map->messages);
    }
    if (c.failed || map->messages == NULL) {
        cco_block_progress_map_free(map);
        map = NULL;
    } else {
        sort_parts(map, &c);
        qsort(map->targets, (size_t)map->blocks, sizeof *map->targets, by_round);
    }
    free(c.parts);
    return map;
}

void cco_block_progress_map_free(cco_block_progress_map *map)
{
    if (map == NULL)
        return;
    free(map->targets);
    free(map->messages);
    free(map);
}

cco_block_progress *cco_block_progress_new(int blocks)
{
    const size_t n = (size_t)blocks + 1;
    cco_block_progress *l = calloc(1, sizeof *l + n * (2 * sizeof *l->list + sizeof *l->noted));
    if (l == NULL)
        return NULL;
    l->blocks = blocks;
    l->list = (int *)(l + 1);
    l->come = l->list + n;
    l->noted = (bool *)(l->come + n);
    return l;
}

void cco_block_progress_free(cco_block_progress *l)
{
    free(l);
}

static void block_progress_add(cco_block_progress *l, int block)
{
    l->noted[block] = true;
    l->list[l->landed] = block;
    __atomic_store_n(&l->landed, l->landed + 1, __ATOMIC_RELEASE);
}

/* Tests the messages of a target whose last round is open. */
static int test_messages(cco_block_progress *l, const cco_block_progress_map *map, const target *t,
                         cco_engine *e, bool *over)
{
    int rc = MPI_SUCCESS;
    for (*over = true; rc == MPI_SUCCESS && l->come[t->block] < t->count;) {
        rc = cco_engine_over(e, map->messages[t->first + l->come[t->block]], over);
        if (rc != MPI_SUCCESS || !*over)
            break;
        l->come[t->block]++;
    }
    return rc;
}

int cco_block_progress_look(cco_block_progress *l, const cco_block_progress_map *map, cco_engine *e,
                            bool early, cco_land *land, void *owner)
{
    const int at = cco_engine_at(e);
    int rc = MPI_SUCCESS;
    for (int i = l->next; i < map->blocks && map->targets[i].round <= at; i++) {
        const target *t = &map->targets[i];
        bool over = t->round < at || t->count == 0;
        if (l->noted[t->block] || (over && early))
            continue;
        if (!over)
            rc = test_messages(l, map, t, e, &over);
        if (rc == MPI_SUCCESS && over && land != NULL)
            rc = land(owner, t->block);
        if (rc != MPI_SUCCESS)
            return rc;
        if (over)
            block_progress_add(l, t->block);
    }
    while (l->next < map->blocks && l->noted[map->targets[l->next].block])
        l->next++;
    return MPI_SUCCESS;
}

void cco_block_progress_rest(cco_block_progress *l)
{
    for (int i = 0; i < l->blocks; i++)
        if (!l->noted[i])
            block_progress_add(l, i);
}
