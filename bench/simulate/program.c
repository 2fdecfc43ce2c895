/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - see program.h. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "core/mpi_compat.h"
#include "sched/step.h"

static bool more(uint32_t **list, size_t *room, size_t n)
{
    if (n <= *room)
        return true;
    uint32_t *larger = realloc(*list, 2 * n * sizeof *larger);
    if (larger == NULL)
        return false;
    *list = larger;
    *room = 2 * n;
    return true;
}

static uint32_t write_peer(int peer, uint32_t how, const cco_problem *q)
{
    if (how == PEERS_XOR)
        return (uint32_t)(peer ^ q->rank);
    return (uint32_t)(peer >= q->rank ? peer - q->rank : peer - q->rank + q->size);
}

static act message(const cco_step *step, act_kind kind, uint32_t how, const cco_problem *q)
{
    const size_t n = kind == ACT_SEND ? step->a.n : step->b.n;
    return (act){(uint32_t)n, (uint32_t)(n >> 32), write_peer(step->peer, how, q), kind};
}

/* What a rank does by itself in the steps from `first` to `end`. */
static act local(const cco_sched *s, int first, int end, cco_step_kind kind)
{
    size_t n = 0;
    act sum = {.kind = kind == CCO_STEP_COPY ? ACT_COPY : ACT_REDUCE};
    for (int i = first; i < end; i++)
        if (s->steps[i].kind == kind) {
            n += s->steps[i].a.n;
            sum.peer++;
        }
    sum.low = (uint32_t)n;
    sum.high = (uint32_t)(n >> 32);
    return sum;
}

/* The round of these steps as words; their number. */
static uint32_t write_round(const cco_sched *s, int first, int end, uint32_t how,
                            const cco_problem *q, uint32_t *to)
{
    act *acts = (act *)(to + ROUND_HEAD);
    const act copies = local(s, first, end, CCO_STEP_COPY);
    const act reductions = local(s, first, end, CCO_STEP_REDUCE);
    uint32_t count = 0;
    to[0] = how;
    for (int i = first; i < end; i++)
        if (s->steps[i].kind == CCO_STEP_SEND)
            acts[count++] = message(&s->steps[i], ACT_SEND, how, q);
    for (int i = first; i < end; i++)
        if (s->steps[i].kind == CCO_STEP_RECV)
            acts[count++] = message(&s->steps[i], ACT_RECEIVE, how, q);
    if (copies.peer > 0)
        acts[count++] = copies;
    if (reductions.peer > 0)
        acts[count++] = reductions;
    return ROUND_HEAD + count * ACT_WORDS;
}

/* Looks for the round in both ways to write peers.  A new one is kept in the way in which more have
 * been found, among the first ones in both. */
static uint32_t keep_round(programs *all, const cco_sched *s, int first, int end,
                           const cco_problem *q)
{
    enum { FIRST = 256 };
    const uint32_t best = all->found[PEERS_XOR] > all->found[PEERS_ADD];
    uint32_t number = NOT_INTERNED, words = 0;
    if (!more(&all->acts, &all->acts_room, ROUND_HEAD + (size_t)(end - first + 2) * ACT_WORDS))
        return NOT_INTERNED;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t how = i == 0 ? best : !best;
        words = write_round(s, first, end, how, q, all->acts);
        number = interned_find(&all->rounds, all->acts, words);
        if (number != NOT_INTERNED) {
            all->found[how]++;
            return number;
        }
    }
    if (all->rounds.count < FIRST)
        interned_keep(&all->rounds, all->acts, words);
    words = write_round(s, first, end, best, q, all->acts);
    return interned_keep(&all->rounds, all->acts, words);
}

/* Of these many rounds in `words`. */
static int keep_passages(programs *all, uint32_t count, uint32_t *number)
{
    uint32_t passages = 0;
    for (uint32_t i = 0; i < count; i += PASSAGE) {
        const uint32_t n = count - i < PASSAGE ? count - i : PASSAGE;
        const uint32_t passage = interned_keep(&all->passages, all->words + i, n);
        if (passage == NOT_INTERNED)
            return MPI_ERR_NO_MEM;
        all->words[passages++] = passage;
    }
    *number = interned_keep(&all->list, all->words, passages);
    return *number == NOT_INTERNED ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int keep_rounds(programs *all, const cco_sched *s, const cco_problem *q, uint32_t *number)
{
    uint32_t count = 0;
    for (int first = 0, i = 0; i <= s->count; i++) {
        if (i < s->count && s->steps[i].kind >= CCO_STEP_EXPOSE &&
            s->steps[i].kind <= CCO_STEP_AWAIT)
            return MPI_ERR_RMA_SYNC;
        if (i < s->count && s->steps[i].kind != CCO_STEP_ROUND)
            continue;
        if (i > first) {
            const uint32_t round = keep_round(all, s, first, i, q);
            if (round == NOT_INTERNED || !more(&all->words, &all->words_room, (size_t)count + 1))
                return MPI_ERR_NO_MEM;
            all->words[count++] = round;
        }
        first = i + 1;
    }
    return keep_passages(all, count, number);
}

int program_make(programs *all, const cco_algo *algo, const cco_problem *q, uint32_t *number)
{
    cco_sched *s = cco_sched_new(q);
    if (s == NULL)
        return MPI_ERR_NO_MEM;
    algo->build(s, q);
    int error = cco_sched_error(s);
    if (error == MPI_SUCCESS)
        error = keep_rounds(all, s, q, number);
    cco_sched_free(s);
    return error;
}

void programs_free(programs *all)
{
    interned_free(&all->rounds);
    interned_free(&all->passages);
    interned_free(&all->list);
    free(all->acts);
    free(all->words);
    *all = (programs){.acts = NULL};
}
