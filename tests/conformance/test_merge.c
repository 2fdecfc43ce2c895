/* SPDX-License-Identifier: BSD-3-Clause */
/* test_merge.c - recordings in the simulator: sequences of calls at random, of every algorithm, for
 * 1 to 33 ranks, merged (sched/merge.h).
 *
 *   conformance-merge CASES FIRST_SEED
 *
 * Calls with memory of their own become one schedule, whose results are compared with the
 * definitions in the MPI standard (world.h).  Calls on one small memory, which depend on each other
 * at random, are divided as recordings divide them (record/ranges.h), and the memory that comes out
 * is compared with that of the calls one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merges.h"

static long runs, merged_messages, messages, divided, failures;

static void fail(const merges *q, const char *what, const char *why)
{
    failures++;
    printf("FAIL p=%d, %d calls: %s: %s; again: conformance-merge 1 %lu\n", q->p, q->calls, what,
           why, q->seed);
    for (int i = 0; i < q->calls; i++)
        printf("    %s/%s n=%d root=%d shape=%u%s\n", cco_coll_infos[q->worlds[i]->c.coll].name,
               q->algos[i]->name, q->worlds[i]->c.n, q->worlds[i]->c.root, q->worlds[i]->c.shape,
               q->worlds[i]->c.in_place ? " in place" : "");
}

/* Runs calls merged, on the memory of the sequence; counts messages where the calls are apart. */
static bool run_merged(merges *q, int first, int end, bool apart)
{
    cco_sim_rank *ranks = merges_room((size_t)q->p * sizeof *ranks);
    cco_sim sim = {.ranks = ranks, .size = q->p, .operations = q->operations};
    bool barrier = false, fine = true;
    for (int i = first; i < end; i++)
        barrier = barrier || q->worlds[i]->c.coll == CCO_BARRIER;
    for (int rank = 0; rank < q->p; rank++) {
        cco_sched *s = merges_merged(q, rank, first, end);
        if (cco_sched_error(s) != MPI_SUCCESS)
            fine = cco_sched_error(s) == MPI_SUCCESS;
        ranks[rank].sched = s;
        ranks[rank].memory[CCO_OUT] = q->memory[rank];
        ranks[rank].memory[CCO_TMP] = (cco_memory){merges_room(s->scratch), merges_room(s->scratch),
                                                   s->scratch};
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

static void give_memory(merges *q)
{
    for (int rank = 0; rank < q->p; rank++)
        q->memory[rank] = (cco_memory){merges_room(q->size[rank]), merges_room(q->size[rank]),
                                       q->size[rank]};
}

static void free_memory(merges *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        free(q->memory[rank].data);
        free(q->memory[rank].written);
    }
}

/* Each base of each call has a place of its own. */
static void place_apart(merges *q)
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
static void exchange_memory(merges *q, bool back)
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

static void count_messages(const merges *q)
{
    for (int i = 0; i < q->calls; i++)
        for (int rank = 0; rank < q->p; rank++)
            for (int k = 0; k < q->scheds[i][rank]->count; k++)
                messages += q->scheds[i][rank]->steps[k].kind == CCO_STEP_SEND;
}

static void run_apart(merges *q)
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
static void place_together(merges *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        size_t most = 0;
        for (int i = 0; i < q->calls; i++) {
            const cco_memory *m = q->worlds[i]->sim.ranks[rank].memory;
            const size_t both = m[CCO_IN].size + m[CCO_OUT].size;
            most = both > most ? both : most;
        }
        q->size[rank] = most + most * (size_t)merges_below(6) / 2;
        for (int i = 0; i < q->calls; i++) {
            const cco_memory *m = q->worlds[i]->sim.ranks[rank].memory;
            const size_t both = m[CCO_IN].size + m[CCO_OUT].size;
            const int first = merges_below(2);
            const int left = (int)(q->size[rank] - both) + 1;
            q->at[i][rank][first] = merges_below(left);
            q->at[i][rank][1 - first] = q->at[i][rank][first] + (ptrdiff_t)m[first].size;
        }
    }
}

static void touch(cco_ranges *ranges, const merges *q, int call, int rank, const cco_side *side)
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

static void touch_all(merges *q)
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
static bool depends(const merges *q, int call, int first)
{
    for (int i = first; i < call; i++)
        for (int rank = 0; rank < q->p; rank++)
            if (cco_touched_depend(&q->touched[i][rank], &q->touched[call][rank]))
                return true;
    return false;
}

static void fill_by_chance(merges *q)
{
    for (int rank = 0; rank < q->p; rank++) {
        for (size_t i = 0; i < q->size[rank]; i++)
            q->memory[rank].data[i] = (unsigned char)merges_next();
        memset(q->memory[rank].written, 1, q->size[rank]);
    }
}

/* The calls one after the other, as they were recorded. */
static bool run_apiece(merges *q)
{
    for (int i = 0; i < q->calls; i++) {
        cco_sim *sim = &q->worlds[i]->sim;
        cco_memory kept[MERGES_RANKS][CCO_TMP];
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

static bool run_divided(merges *q)
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

static void run_together(merges *q)
{
    unsigned char *results[MERGES_RANKS];
    place_together(q);
    touch_all(q);
    give_memory(q);
    const uint64_t data = merges_state;
    fill_by_chance(q);
    bool fine = run_apiece(q);
    for (int rank = 0; rank < q->p; rank++) {
        results[rank] = merges_room(q->size[rank]);
        memcpy(results[rank], q->memory[rank].data, q->size[rank]);
    }
    merges_state = data;
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
    static merges q;
    merges_open(&q, seed);
    run_apart(&q);
    run_together(&q);
    merges_close(&q);
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
