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

/* A round is a list of a word that says how it is written, then of acts; a passage is a list of so
 * many rounds, of less at the end; a program is a list of passages.  What ranks do differently is
 * often one thing in many. */
enum { ROUND_HEAD = 1, ACT_WORDS = sizeof(act) / sizeof(uint32_t), PASSAGE = 8 };

/* The first word of a round: `peers`, and whether it has many messages, all that it sends of one
 * length, and all that it receives.  Ranks whose neighbours are at random share nothing, so that
 * these take less memory: behind the words below there are the other acts, then only the peers, two
 * in a word if `narrow`, those to which it sends first. */
enum { ROUND_PEERS = 1, ROUND_MANY = 2, ROUND_NARROW = 4 };
enum {
    MANY_SENDS = 1,
    MANY_RECEIVES,
    MANY_SEND_BYTES,
    MANY_RECEIVE_BYTES = 5,
    MANY_OTHERS = 7,
    MANY_HEAD
};

/* The acts of a round, to be read. */
typedef struct acts {
    const act *list;               /* NULL: it has many messages */
    const uint32_t *words, *peers; /* of which these are */
    uint32_t count, how;           /* how peers are written */
    bool narrow;
} acts;

typedef struct programs {
    interned rounds, passages, list;
    uint32_t found[2];      /* rounds that were there, by `peers` */
    uint32_t *acts, *words; /* of what is being made */
    size_t acts_room, words_room;
} programs;

/* The program of a rank: builds its schedule, and throws it away.  MPI_SUCCESS; MPI_ERR_NO_MEM;
 * the class of the builder's error; MPI_ERR_RMA_SYNC for a schedule with one-sided steps. */
int program_make(programs *all, const cco_algo *algo, const cco_problem *q, uint32_t *number);

/* No more are made: gives memory back that was kept for them. */
void programs_end(programs *all);

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

static inline acts acts_of(const programs *from, uint32_t number)
{
    const interned_list *list = &from->rounds.lists[number];
    const uint32_t *words = from->rounds.words + list->first;
    acts one = {.words = words, .how = words[0] & ROUND_PEERS};
    if ((words[0] & ROUND_MANY) == 0) {
        one.list = (const act *)(words + ROUND_HEAD);
        one.count = (list->count - ROUND_HEAD) / ACT_WORDS;
        return one;
    }
    one.narrow = words[0] & ROUND_NARROW;
    one.peers = words + MANY_HEAD + words[MANY_OTHERS] * ACT_WORDS;
    one.count = words[MANY_SENDS] + words[MANY_RECEIVES] + words[MANY_OTHERS];
    return one;
}

static inline act acts_at(const acts *all, uint32_t i)
{
    if (all->list != NULL)
        return all->list[i];
    const uint32_t *words = all->words, sends = words[MANY_SENDS];
    const uint32_t messages = sends + words[MANY_RECEIVES];
    if (i >= messages)
        return ((const act *)(words + MANY_HEAD))[i - messages];
    const uint32_t *bytes = words + (i < sends ? MANY_SEND_BYTES : MANY_RECEIVE_BYTES);
    const uint32_t peer = all->narrow ? all->peers[i / 2] >> 16 * (i % 2) & 0xffff : all->peers[i];
    return (act){bytes[0], bytes[1], peer, i < sends ? ACT_SEND : ACT_RECEIVE};
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
