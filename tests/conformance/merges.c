/* SPDX-License-Identifier: BSD-3-Clause */
/* merges.c - see merges.h. */
#include "merges.h"

#include <stdlib.h>
#include <string.h>

static const cco_layout bytes_only[CCO_BASES] = {
    {1, 1, 0, true, 0}, {1, 1, 0, true, 0}, {1, 1, 0, true, 0}};

uint64_t merges_state;

uint64_t merges_next(void)
{
    uint64_t x = merges_state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

int merges_below(int n)
{
    return (int)(merges_next() % (uint64_t)n);
}

void *merges_room(size_t n)
{
    void *memory = calloc(n + 1, 1);
    if (memory == NULL)
        abort();
    return memory;
}

/* An algorithm that can do the call. */
static const cco_algo *some_algo(const cco_problem *q)
{
    int count = 0;
    while (cco_node_algo_of(q->coll, count) != NULL)
        count++;
    for (;;) {
        const cco_algo *algo = cco_node_algo_of(q->coll, merges_below(count));
        if (cco_algo_refuses(algo, q) == NULL)
            return algo;
    }
}

static world_case some_case(int p)
{
    static const int most[] = {2, 20, 200, 3000};
    const cco_coll coll = (cco_coll)merges_below(CCO_COLLECTIVES);
    const int properties = cco_coll_infos[coll].properties;
    return (world_case){.coll = coll,
                        .p = p,
                        .root = properties & CCO_ROOTED ? merges_below(p) : 0,
                        .n = merges_below(p > 9 ? most[merges_below(2)] : most[merges_below(4)]),
                        .shape = (unsigned)merges_next(),
                        .nodes = 1 + (unsigned)merges_below(WORLD_NODES - 1),
                        .graph = (unsigned)merges_next(),
                        .in_place = world_in_place(coll) && merges_below(2),
                        .commutative = !(properties & CCO_REDUCTION) || merges_below(2)};
}

static void build(merges *q, int call)
{
    world *w = q->worlds[call];
    const cco_algo *algo = q->algos[call] = some_algo(&w->problems[0]);
    for (int rank = 0; rank < q->p; rank++) {
        cco_problem *problem = &w->problems[rank];
        for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            problem->params[k] = algo->params[k].preset;
        problem->counts = cco_algo_shares(algo, w->c.coll) ? world_counts(w, rank) : NULL;
        cco_sched *s = q->scheds[call][rank] = cco_sched_new(problem);
        algo->build(s, problem);
        w->sim.ranks[rank].sched = s;
    }
    world_fill(w, (unsigned)merges_next());
    q->operations[call] = (cco_sim_op){w->sim.reduce, w->element};
}

/* The first message of the open round of a rank that has not met, of a kind and with a peer. */
static int waiting(const cco_message_levels *l, const char *met, bool sends, int peer)
{
    for (int i = l->first; i < l->end; i++) {
        const cco_step *step = &l->sched->steps[i];
        if (!met[i] && step->kind == (sends ? CCO_STEP_SEND : CCO_STEP_RECV) && step->peer == peer)
            return i;
    }
    return -1;
}

/* True if all messages of the open round have met. */
static bool is_over(const cco_message_levels *l, const char *met)
{
    for (int i = l->first; i < l->end; i++)
        if (cco_step_is_message(&l->sched->steps[i]) && !met[i])
            return false;
    return true;
}

static bool meet_all(cco_message_levels *levels, char **met, int rank)
{
    cco_message_levels *l = &levels[rank];
    bool any = false;
    for (int i = l->first; i < l->end; i++) {
        const cco_step *step = &l->sched->steps[i];
        if (met[rank][i] || step->kind != CCO_STEP_SEND ||
            waiting(l, met[rank], true, step->peer) != i)
            continue;
        cco_message_levels *other = &levels[step->peer];
        const int k = waiting(other, met[step->peer], false, rank);
        if (k < 0)
            continue;
        cco_message_levels_meet(l, i, other->least);
        cco_message_levels_meet(other, k, l->least);
        met[rank][i] = met[step->peer][k] = 1;
        any = true;
    }
    return any;
}

/* The rehearsal of all ranks. */
static void rehearse(merges *q, int call)
{
    char *met[MERGES_RANKS];
    for (int rank = 0; rank < q->p; rank++) {
        cco_sched *s = q->scheds[call][rank];
        met[rank] = merges_room((size_t)s->count);
        if (!cco_message_levels_open(&q->levels[call][rank], s))
            abort();
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < q->p; rank++) {
            moved = meet_all(q->levels[call], met, rank) || moved;
            if (is_over(&q->levels[call][rank], met[rank]))
                moved = cco_message_levels_next(&q->levels[call][rank]) || moved;
        }
    }
    for (int rank = 0; rank < q->p; rank++)
        free(met[rank]);
}

cco_sched *merges_merged(const merges *q, int rank, int first, int end)
{
    cco_merge_part parts[MERGES_CALLS];
    const cco_problem like = {.rank = rank, .size = q->p, .unit = 1, .layouts = bytes_only};
    for (int i = first; i < end; i++) {
        parts[i - first] = (cco_merge_part){
            .sched = q->scheds[i][rank], .levels = q->levels[i][rank].of, .operation = i + 1};
        memcpy(parts[i - first].at, q->at[i][rank], sizeof parts->at);
    }
    cco_sched *s = cco_merge(parts, end - first, &like);
    if (s == NULL)
        abort();
    return s;
}

void merges_open(merges *q, unsigned long seed)
{
    *q = (merges){.seed = seed, .p = 1 + (int)(seed % MERGES_RANKS)};
    merges_state = seed * 7919;
    q->calls = 1 + merges_below(MERGES_CALLS);
    for (int i = 0; i < q->calls; i++) {
        const world_case c = some_case(q->p);
        q->worlds[i] = world_new(&c);
        build(q, i);
        rehearse(q, i);
    }
}

void merges_close(merges *q)
{
    for (int i = 0; i < q->calls; i++) {
        for (int rank = 0; rank < q->p; rank++) {
            cco_message_levels_close(&q->levels[i][rank]);
            cco_touched_free(&q->touched[i][rank]);
            cco_sched_free(q->scheds[i][rank]);
        }
        world_free(q->worlds[i]);
    }
}
