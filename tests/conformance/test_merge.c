/* SPDX-License-Identifier: BSD-3-Clause */
/* test_merge.c - recordings in the simulator: sequences of calls by chance, of every algorithm, for
 * 1 to 33 ranks, merged (sched/merge.h).
 *
 *   conformance-merge CASES FIRST_SEED
 *
 * Calls with memory of their own become one schedule, whose results are compared with the
 * definitions in the MPI standard (world.h).  Calls on one small memory, which depend on each other
 * by chance, are divided as recordings divide them (record/ranges.h), and the memory that comes out
 * is compared with that of the calls one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/ranges.h"
#include "sched/message_levels.h"
#include "sched/merge.h"
#include "world.h"

enum { RANKS = 33, CALLS = 7 };

static const cco_layout bytes_only[CCO_BASES] = {
    {1, 1, 0, true, 0}, {1, 1, 0, true, 0}, {1, 1, 0, true, 0}};

/* A sequence of calls of all ranks. */
typedef struct sequence {
    unsigned long seed;
    int p, calls;
    world *worlds[CALLS];
    const cco_algo *algos[CALLS];
    cco_sched *scheds[CALLS][RANKS];
    cco_message_levels levels[CALLS][RANKS];
    cco_touched touched[CALLS][RANKS];
    ptrdiff_t at[CALLS][RANKS][CCO_TMP]; /* of the bases in the memory of a rank */
    size_t size[RANKS];                  /* of that memory */
    cco_memory memory[RANKS];
    cco_sim_op operations[CALLS];
} sequence;

static uint64_t state;
static long runs, merged_messages, messages, divided, failures;

static uint64_t next(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int below(int n)
{
    return (int)(next() % (uint64_t)n);
}

static void fail(const sequence *q, const char *what, const char *why)
{
    failures++;
    printf("FAIL p=%d, %d calls: %s: %s; again: conformance-merge 1 %lu\n", q->p, q->calls, what,
           why, q->seed);
    for (int i = 0; i < q->calls; i++)
        printf("    %s/%s n=%d root=%d shape=%u%s\n", cco_coll_infos[q->worlds[i]->c.coll].name,
               q->algos[i]->name, q->worlds[i]->c.n, q->worlds[i]->c.root, q->worlds[i]->c.shape,
               q->worlds[i]->c.in_place ? " in place" : "");
}

static void *room(size_t n)
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
        const cco_algo *algo = cco_node_algo_of(q->coll, below(count));
        if (algo->refuses(q) == NULL)
            return algo;
    }
}

static world_case some_case(int p)
{
    static const int most[] = {2, 20, 200, 3000};
    const cco_coll coll = (cco_coll)below(CCO_COLLECTIVES);
    const int properties = cco_coll_infos[coll].properties;
    return (world_case){.coll = coll,
                        .p = p,
                        .root = properties & CCO_ROOTED ? below(p) : 0,
                        .n = below(p > 9 ? most[below(2)] : most[below(4)]),
                        .shape = (unsigned)next(),
                        .nodes = 1 + (unsigned)below(WORLD_NODES - 1),
                        .graph = (unsigned)next(),
                        .in_place = world_in_place(coll) && below(2),
                        .commutative = !(properties & CCO_REDUCTION) || below(2)};
}

static void build(sequence *q, int call)
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
    world_fill(w, (unsigned)next());
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
static void rehearse(sequence *q, int call)
{
    char *met[RANKS];
    for (int rank = 0; rank < q->p; rank++) {
        cco_sched *s = q->scheds[call][rank];
        met[rank] = room((size_t)s->count);
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

/* Calls `first` to `end` - 1 as one schedule of a rank. */
static cco_sched *merged(const sequence *q, int rank, int first, int end)
{
    cco_merge_part parts[CALLS];
    const cco_problem like = {.rank = rank, .size = q->p, .unit = 1, .layouts = bytes_only};
    for (int i = first; i < end; i++) {
        parts[i - first] = (cco_merge_part){.sched = q->scheds[i][rank],
                                            .levels = q->levels[i][rank].of,
                                            .operation = i + 1};
        memcpy(parts[i - first].at, q->at[i][rank], sizeof parts->at);
    }
    cco_sched *s = cco_merge(parts, end - first, &like);
    if (s == NULL)
        abort();
    return s;
}

/* Runs calls merged, on the memory of the sequence; counts messages where the calls are apart. */
static bool run_merged(sequence *q, int first, int end, bool apart)
{
    cco_sim_rank *ranks = room((size_t)q->p * sizeof *ranks);
    cco_sim sim = {.ranks = ranks, .size = q->p, .operations = q->operations};
    bool barrier = false, fine = true;
    for (int i = first; i < end; i++)
        barrier = barrier || q->worlds[i]->c.coll == CCO_BARRIER;
    for (int rank = 0; rank < q->p; rank++) {
        cco_sched *s = merged(q, rank, first, end);
        if (cco_sched_error(s) != MPI_SUCCESS)
            fine = cco_sched_error(s) == MPI_SUCCESS;
        ranks[rank].sched = s;
        ranks[rank].memory[CCO_OUT] = q->memory[rank];
        ranks[rank].memory[CCO_TMP] = (cco_memory){room(s->scratch), room(s->scratch), s->scratch};
        memset(ranks[rank].memory[CCO_TMP].written, barrier, s->scratch);
    }
    if (!fine)
        fail(q, "merging", "a wrong step");
    else if (!cco_sim_run(&sim))
        fail(q, "merged", sim.why);
    fine = fine && sim.why[0] == '\0';
    merged_messages += apart ? (long)sim.messages : 0;
    for (int rank = 0; rank < q->p; rank++) {
        for (int i = first; i < end; i++) /* of whom it knows that they have come, for barriers */
            memcpy(q->worlds[i]->sim.ranks[rank].heard, ranks[rank].heard,
                   sizeof ranks[rank].heard);
        free(ranks[rank].memory[CCO_TMP].data);
        free(ranks[rank].memory[CCO_TMP].written);
        cco_sched_free((cco_sched *)(uintptr_t)ranks[rank].sched);
    }
    free(ranks);
    return fine;
}

static void give_memory(sequence *q)
{
    for (int rank = 0; rank < q->p; rank++)
        q->memory[rank] = (cco_memory){room(q->size[rank]), room(q->size[rank]), q->size[rank]};
}

static void free_memory(sequence *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        free(q->memory[rank].data);
        free(q->memory[rank].written);
    }
}

/* Each base of each call has a place of its own. */
static void place_apart(sequence *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        size_t next = 0;
        for (int i = 0; i < q->calls; i++)
            for (int base = 0; base < CCO_TMP; base++) {
                q->at[i][rank][base] = (ptrdiff_t)next;
                next += q->worlds[i]->sim.ranks[rank].memory[base].size;
            }
        q->size[rank] = next;
    }
}

/* Between the memory of a rank and that of its calls. */
static void exchange_memory(sequence *q, bool back)
{
    for (int rank = 0; rank < q->p; rank++)
        for (int i = 0; i < q->calls; i++)
            for (int base = 0; base < CCO_TMP; base++) {
                const cco_memory *one = &q->worlds[i]->sim.ranks[rank].memory[base];
                unsigned char *data = q->memory[rank].data + q->at[i][rank][base];
                unsigned char *written = q->memory[rank].written + q->at[i][rank][base];
                memcpy(back ? one->data : data, back ? data : one->data, one->size);
                memcpy(back ? one->written : written, back ? written : one->written, one->size);
            }
}

static void count_messages(const sequence *q)
{
    for (int i = 0; i < q->calls; i++)
        for (int rank = 0; rank < q->p; rank++)
            for (int k = 0; k < q->scheds[i][rank]->count; k++)
                messages += q->scheds[i][rank]->steps[k].kind == CCO_STEP_SEND;
}

static void run_apart(sequence *q)
{
    place_apart(q);
    give_memory(q);
    exchange_memory(q, false);
    if (run_merged(q, 0, q->calls, true)) {
        exchange_memory(q, true);
        for (int i = 0; i < q->calls; i++)
            if (!world_check(q->worlds[i]))
                fail(q, cco_coll_infos[q->worlds[i]->c.coll].name, q->worlds[i]->sim.why);
    }
    count_messages(q);
    free_memory(q);
}

/* All bases of all calls somewhere in one memory: they overlap, but not the two of one call. */
static void place_together(sequence *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        size_t most = 0;
        for (int i = 0; i < q->calls; i++) {
            const cco_memory *m = q->worlds[i]->sim.ranks[rank].memory;
            const size_t both = m[CCO_IN].size + m[CCO_OUT].size;
            most = both > most ? both : most;
        }
        q->size[rank] = most + most * (size_t)below(6) / 2;
        for (int i = 0; i < q->calls; i++) {
            const cco_memory *m = q->worlds[i]->sim.ranks[rank].memory;
            const size_t both = m[CCO_IN].size + m[CCO_OUT].size;
            const int first = below(2);
            const int left = (int)(q->size[rank] - both) + 1;
            q->at[i][rank][first] = below(left);
            q->at[i][rank][1 - first] = q->at[i][rank][first] + (ptrdiff_t)m[first].size;
        }
    }
}

static void touch(cco_ranges *ranges, const sequence *q, int call, int rank, const cco_side *side)
{
    const cco_problem *problem = &q->worlds[call]->problems[rank];
    for (int i = 0; i < side->blocks; i++) {
        const cco_span span = side->blocks == 1 && side->n == NULL ? cco_whole(side)
                                                                   : cco_block(problem, side, i);
        const uintptr_t at = (uintptr_t)(q->at[call][rank][span.base] + span.at);
        if (!cco_ranges_add(ranges, at, at + span.n))
            abort();
    }
}

static void touch_all(sequence *q)
{
    for (int i = 0; i < q->calls; i++)
        for (int rank = 0; rank < q->p; rank++) {
            cco_touched *t = &q->touched[i][rank];
            touch(&t->read, q, i, rank, &q->worlds[i]->problems[rank].in);
            touch(&t->written, q, i, rank, &q->worlds[i]->problems[rank].out);
            cco_ranges_settle(&t->read);
            cco_ranges_settle(&t->written);
        }
}

/* True if a call depends, on some rank, on one from `first` on. */
static bool depends(const sequence *q, int call, int first)
{
    for (int i = first; i < call; i++)
        for (int rank = 0; rank < q->p; rank++)
            if (cco_touched_depend(&q->touched[i][rank], &q->touched[call][rank]))
                return true;
    return false;
}

static void fill_by_chance(sequence *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        for (size_t i = 0; i < q->size[rank]; i++)
            q->memory[rank].data[i] = (unsigned char)next();
        memset(q->memory[rank].written, 1, q->size[rank]);
    }
}

/* The calls one after the other, as they were recorded. */
static bool run_apiece(sequence *q)
{
    for (int i = 0; i < q->calls; i++) {
        cco_sim *sim = &q->worlds[i]->sim;
        cco_memory kept[RANKS][CCO_TMP];
        for (int rank = 0; rank < q->p; rank++)
            for (int base = 0; base < CCO_TMP; base++) {
                cco_memory *m = &sim->ranks[rank].memory[base];
                kept[rank][base] = *m;
                m->data = q->memory[rank].data + q->at[i][rank][base];
                m->written = q->memory[rank].written + q->at[i][rank][base];
            }
        const bool fine = cco_sim_run(sim);
        if (!fine)
            fail(q, "one after the other", sim->why);
        for (int rank = 0; rank < q->p; rank++)
            memcpy(sim->ranks[rank].memory, kept[rank], sizeof kept[rank]);
        if (!fine)
            return false;
    }
    return true;
}

static bool run_divided(sequence *q)
{
    for (int first = 0, end; first < q->calls; first = end) {
        for (end = first + 1; end < q->calls && !depends(q, end, first);)
            end++;
        divided += first > 0;
        if (!run_merged(q, first, end, false))
            return false;
    }
    return true;
}

static void run_together(sequence *q)
{
    unsigned char *results[RANKS];
    place_together(q);
    touch_all(q);
    give_memory(q);
    const uint64_t data = state;
    fill_by_chance(q);
    bool fine = run_apiece(q);
    for (int rank = 0; rank < q->p; rank++) {
        results[rank] = room(q->size[rank]);
        memcpy(results[rank], q->memory[rank].data, q->size[rank]);
    }
    state = data;
    fill_by_chance(q);
    fine = fine && run_divided(q);
    for (int rank = 0; rank < q->p; rank++) {
        if (fine && memcmp(results[rank], q->memory[rank].data, q->size[rank]) != 0)
            fail(q, "together", "another result than one after the other");
        free(results[rank]);
    }
    free_memory(q);
}

static void run(unsigned long seed)
{
    sequence q = {.seed = seed, .p = 1 + (int)(seed % RANKS)};
    state = seed * 7919;
    q.calls = 1 + below(CALLS);
    for (int i = 0; i < q.calls; i++) {
        const world_case c = some_case(q.p);
        q.worlds[i] = world_new(&c);
        build(&q, i);
        rehearse(&q, i);
    }
    run_apart(&q);
    run_together(&q);
    for (int i = 0; i < q.calls; i++) {
        for (int rank = 0; rank < q.p; rank++) {
            cco_message_levels_close(&q.levels[i][rank]);
            cco_touched_free(&q.touched[i][rank]);
            cco_sched_free(q.scheds[i][rank]);
        }
        world_free(q.worlds[i]);
    }
    runs++;
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    const unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    for (unsigned long seed = first; seed < first + count; seed++)
        run(seed);
    printf("%ld sequences, %ld messages merged into %ld, %ld divisions: "
           "%ld failures\n",
           runs, messages, merged_messages, divided, failures);
    return failures != 0 || runs == 0;
}
