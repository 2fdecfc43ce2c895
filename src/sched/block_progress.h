/* SPDX-License-Identifier: BSD-3-Clause */
/* block_progress.h - which of the blocks that a rank receives are there while its schedule still
 * runs.
 *
 * A block has landed when the last round that writes it is over, or is open and its messages for
 * the block have come.  So blocks of an exchange with each peer land one by one, and those of
 * Bruck's algorithm at the end. */
#ifndef CCO_BLOCK_PROGRESS_H
#define CCO_BLOCK_PROGRESS_H

#include "sched/engine.h"

/* Where the blocks of a problem's receive side are written last; one serves all runs of its
 * schedule. */
typedef struct cco_block_progress_map cco_block_progress_map;

/* NULL when memory runs out, or where it cannot be known (cco_engine_tells). */
cco_block_progress_map *cco_block_progress_map_new(const cco_engine *e, const cco_problem *q);
void cco_block_progress_map_free(cco_block_progress_map *map);

/* The blocks that have landed in one run.  Whoever tests the engine adds to the list, and one other
 * thread may read it meanwhile. */
typedef struct cco_block_progress {
    int blocks;
    int landed;  /* entries of the list so far, */
    int *list;   /* in the order of landing */
    bool *noted; /* of each block: it is in the list */
    int *come;   /* of each: how many of its last messages have come */
    int next;    /* all entries of the map before are in the list */
} cco_block_progress;

/* NULL when memory runs out. */
cco_block_progress *cco_block_progress_new(int blocks);
void cco_block_progress_free(cco_block_progress *l);

/* Adds what has landed since the last look, after a test of the engine that found it not done; if
 * `early`, only what messages of the open round have brought, and the rest in a later look.  Each
 * block first goes to `land`, if that is there, whose error is returned, as those of the engine. */
typedef int cco_land(void *owner, int block);
int cco_block_progress_look(cco_block_progress *l, const cco_block_progress_map *map, cco_engine *e,
                            bool early, cco_land *land, void *owner);

/* The schedule has ended, with success: adds the rest. */
void cco_block_progress_rest(cco_block_progress *l);

static inline int cco_block_progress_count(const cco_block_progress *l)
{
    return __atomic_load_n(&l->landed, __ATOMIC_ACQUIRE);
}

#endif
