/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - the schedules of a collective's ranks, made small: only what takes time, and ranks
 * that do the same share what they do, round by round and as a whole. */
#ifndef SIMULATE_PROGRAM_H
#define SIMULATE_PROGRAM_H

#include "algo/algo.h"
#include "interned.h"

/* A round has sends, receives, and what the rank does itself, in this order: the engine's
 * (src/sched/engine.c). */
typedef enum act_kind { ACT_SEND, ACT_RECEIVE, ACT_COPY, ACT_REDUCE } act_kind;

typedef struct act {
    uint32_t low, high; /* bytes; of copies and reductions the sum of those of the round */
    uint32_t peer;      /* send, receive: see `peers`; copy, reduce: how many there are */
    uint32_t kind;
} act;

/* How a peer is written: by the distance from the rank, modulo the number of ranks; by the bits in
 * which both differ. */
typedef enum peers { PEERS_ADD, PEERS_XOR } peers;

/* A round is a list of this word, then of acts; a passage is a list of so many rounds, of less at
 * the end; a program is a list of passages.  What ranks do differently is often one thing in many.
 */
enum { ROUND_HEAD = 1, ACT_WORDS = sizeof(act) / sizeof(uint32_t), PASSAGE = 8 };

typedef struct programs {
    interned rounds, passages, list;
    uint32_t found[2];      /* rounds that were there, by `peers` */
    uint32_t *acts, *words; /* of what is being made */
    size_t acts_room, words_room;
} programs;

/* The program of a rank: builds its schedule, and throws it away.  MPI_SUCCESS; MPI_ERR_NO_MEM;
 * the class of the builder's error; MPI_ERR_RMA_SYNC for a schedule with one-sided steps. */
int program_make(programs *all, const cco_algo *algo, const cco_problem *q, uint32_t *number);

void programs_free(programs *all);

/* The rounds of a passage of a program, and how many; NULL behind the last passage. */
static inline const uint32_t *program_passage(const programs *all, uint32_t number, uint32_t i,
                                              uint32_t *count)
{
    const interned_list *list = &all->list.lists[number];
    *count = 0;
    if (i >= list->count)
        return NULL;
    const interned_list *passage = &all->passages.lists[all->list.words[list->first + i]];
    *count = passage->count;
    return all->passages.words + passage->first;
}

/* The acts of a round, and how their peers are written. */
static inline const act *round_acts(const programs *all, uint32_t number, uint32_t *count,
                                    uint32_t *how)
{
    const interned_list *list = &all->rounds.lists[number];
    const uint32_t *words = all->rounds.words + list->first;
    *how = words[0];
    *count = (list->count - ROUND_HEAD) / ACT_WORDS;
    return (const act *)(words + ROUND_HEAD);
}

static inline double act_bytes(const act *a)
{
    return (double)a->high * 4294967296.0 + a->low;
}

/* The peer of an act among `size` ranks. */
static inline int act_peer(uint32_t peer, uint32_t how, int place, int size)
{
    if (how == PEERS_XOR)
        return place ^ (int)peer;
    const int64_t sum = (int64_t)place + peer;
    return (int)(sum < size ? sum : sum - size);
}

#endif
