/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - see program.h. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_compat.h"
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

/* What is in a round: messages, sent and received, and what the rank does by itself. */
typedef struct content {
    uint32_t count[2];
    size_t n[2];     /* bytes of the last message */
    bool alike;      /* all messages sent have as many bytes, and all received */
    uint32_t own[2]; /* copies, reductions */
    size_t own_n[2]; /* bytes of all of them */
} content;

static size_t bytes_of(const cco_step *step)
{
    return step->kind == CCO_STEP_SEND ? step->a.n : step->b.n;
}

static void add_message(content *c, const cco_step *step)
{
    const int which = step->kind == CCO_STEP_SEND ? ACT_SEND : ACT_RECEIVE;
    const size_t n = bytes_of(step);
    c->alike = c->alike && (c->count[which] == 0 || c->n[which] == n);
    c->n[which] = n;
    c->count[which]++;
}

/* The steps from `first` to `end`, in place: it is read at once, and copies would wait. */
static void look(const cco_sched *s, int first, int end, content *c)
{
    c->count[0] = c->count[1] = c->own[0] = c->own[1] = 0;
    c->own_n[0] = c->own_n[1] = c->n[0] = c->n[1] = 0;
    c->alike = true;
    for (int i = first; i < end; i++) {
        const cco_step *step = &s->steps[i];
        if (step->kind == CCO_STEP_SEND || step->kind == CCO_STEP_RECV) {
            add_message(c, step);
        } else if (step->kind == CCO_STEP_COPY || step->kind == CCO_STEP_REDUCE) {
            c->own_n[step->kind == CCO_STEP_REDUCE] += step->a.n;
            c->own[step->kind == CCO_STEP_REDUCE]++;
        }
    }
}

/* What the rank does by itself, as acts; how many. */
static uint32_t write_own(const content *c, act *to)
{
    uint32_t count = 0;
    for (int i = 0; i < 2; i++)
        if (c->own[i] > 0)
            to[count++] = (act){(uint32_t)c->own_n[i], (uint32_t)(c->own_n[i] >> 32), c->own[i],
                                i == 0 ? ACT_COPY : ACT_REDUCE};
    return count;
}

/* A round that is being written. */
typedef struct writing {
    const cco_sched *sched;
    const cco_problem *problem;
    int first, end;
    content content;
} writing;

static uint32_t write_acts(const writing *w, uint32_t how, uint32_t *to)
{
    const content *c = &w->content;
    act *acts = (act *)(to + ROUND_HEAD);
    uint32_t next[2] = {0, c->count[ACT_SEND]};
    const uint32_t messages = next[1] + c->count[ACT_RECEIVE];
    to[0] = how;
    for (int i = w->first; i < w->end; i++) {
        const cco_step *step = &w->sched->steps[i];
        if (step->kind != CCO_STEP_SEND && step->kind != CCO_STEP_RECV)
            continue;
        const act_kind kind = step->kind == CCO_STEP_SEND ? ACT_SEND : ACT_RECEIVE;
        const size_t n = bytes_of(step);
        acts[next[kind]++] = (act){(uint32_t)n, (uint32_t)(n >> 32),
                                   write_peer(step->peer, how, w->problem), kind};
    }
    return ROUND_HEAD + (messages + write_own(c, acts + messages)) * ACT_WORDS;
}

static uint32_t write_many(const writing *w, uint32_t how, uint32_t *to)
{
    const content *c = &w->content;
    const bool narrow = w->problem->size <= 1 << 16;
    const uint32_t messages = c->count[ACT_SEND] + c->count[ACT_RECEIVE];
    const uint32_t words = narrow ? (messages + 1) / 2 : messages;
    const uint32_t own = write_own(c, (act *)(to + MANY_HEAD));
    uint32_t *peers = to + MANY_HEAD + own * ACT_WORDS, next[2] = {0, c->count[ACT_SEND]};
    to[0] = how | ROUND_MANY | (narrow ? ROUND_NARROW : 0);
    for (int i = 0; i < 2; i++) {
        to[MANY_SENDS + i] = c->count[i];
        to[MANY_SEND_BYTES + 2 * i] = (uint32_t)c->n[i];
        to[MANY_SEND_BYTES + 2 * i + 1] = (uint32_t)(c->n[i] >> 32);
    }
    to[MANY_OTHERS] = own;
    memset(peers, 0, words * sizeof *peers);
    for (int i = w->first; i < w->end; i++) {
        const cco_step *step = &w->sched->steps[i];
        if (step->kind != CCO_STEP_SEND && step->kind != CCO_STEP_RECV)
            continue;
        const uint32_t at = next[step->kind == CCO_STEP_SEND ? ACT_SEND : ACT_RECEIVE]++;
        const uint32_t peer = write_peer(step->peer, how, w->problem);
        if (narrow)
            peers[at / 2] |= peer << 16 * (at % 2);
        else
            peers[at] = peer;
    }
    return (uint32_t)(peers - to) + words;
}

/* The round as words; their number.  One round is written in one way, whoever's it is. */
static uint32_t write_round(const writing *w, uint32_t how, uint32_t *to)
{
    enum { MANY = 64 };
    const content *c = &w->content;
    const bool many = c->alike && c->count[ACT_SEND] + c->count[ACT_RECEIVE] >= MANY;
    return many ? write_many(w, how, to) : write_acts(w, how, to);
}

/* Looks for the round in both ways to write peers.  A new one is kept in the way in which more have
 * been found, among the first ones in both. */
static uint32_t keep_round(programs *all, const cco_sched *s, int first, int end,
                           const cco_problem *q)
{
    enum { FIRST = 256 };
    const uint32_t best = all->found[PEERS_XOR] > all->found[PEERS_ADD];
    writing w;
    w.sched = s;
    w.problem = q;
    w.first = first;
    w.end = end;
    look(s, first, end, &w.content);
    uint32_t number = NOT_INTERNED, words = 0;
    if (!more(&all->acts, &all->acts_room, ROUND_HEAD + (size_t)(end - first + 2) * ACT_WORDS))
        return NOT_INTERNED;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t how = i == 0 ? best : !best;
        words = write_round(&w, how, all->acts);
        number = interned_find(&all->rounds, all->acts, words);
        if (number != NOT_INTERNED) {
            all->found[how]++;
            return number;
        }
    }
    if (all->rounds.count < FIRST)
        interned_keep(&all->rounds, all->acts, words);
    words = write_round(&w, best, all->acts);
    return interned_keep(&all->rounds, all->acts, words);
}

/* Those of `count` rounds in `words`. */
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

void programs_end(programs *all)
{
    interned_fit(&all->rounds);
    interned_fit(&all->passages);
    interned_fit(&all->list);
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
