/* SPDX-License-Identifier: BSD-3-Clause */
/* merges.h - sequences of calls at random of all ranks, their schedules, and what they become when
 * they are merged: for test_merge.c. */
#ifndef MERGES_H
#define MERGES_H

#include "record/ranges.h"
#include "sched/message_levels.h"
#include "sched/merge.h"
#include "world.h"

enum { MERGES_RANKS = 33, MERGES_CALLS = 7 };

typedef struct merges {
    unsigned long seed;
    int p, calls;
    world *worlds[MERGES_CALLS];
    const cco_algo *algos[MERGES_CALLS];
    cco_sched *scheds[MERGES_CALLS][MERGES_RANKS];
    cco_message_levels levels[MERGES_CALLS][MERGES_RANKS];
    cco_touched touched[MERGES_CALLS][MERGES_RANKS];
    ptrdiff_t at[MERGES_CALLS][MERGES_RANKS][CCO_TMP]; /* of the bases in a rank's memory */
    size_t size[MERGES_RANKS];                         /* of that memory */
    cco_memory memory[MERGES_RANKS];
    cco_sim_op operations[MERGES_CALLS];
} merges;

/* By chance, from a state that a seed sets. */
extern uint64_t merges_state;
uint64_t merges_next(void);
int merges_below(int n);

/* Zeroed; aborts when memory runs out. */
void *merges_room(size_t n);

/* A sequence with schedules and levels. */
void merges_open(merges *q, unsigned long seed);
void merges_close(merges *q);

/* Calls `first` to `end` - 1 as one schedule of a rank. */
cco_sched *merges_merged(const merges *q, int rank, int first, int end);

#endif
