/* SPDX-License-Identifier: BSD-3-Clause */
/* test_levels.c - small calls of many ranks over two levels of slot rings (transport/shm/levels.h),
 * all ranks in one process (sequence.h), on the cores of imagined nodes.
 *
 *     conformance-levels [SEQUENCES [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "sequence.h"
#include "transport/shm/levels.h"

enum { STACK = 128 << 10 };

static cco_levels ranks[SEQUENCE_RANKS];
static char *scratches[SEQUENCE_RANKS];
static cco_groups groups;
static long out_of_order, uneven;

static void explain(void)
{
    printf("  %d groups\n", groups.count);
}

static int call(int me, world *w)
{
    cco_binding binding = {.base = {NULL}};
    const cco_problem *q = &w->problems[me];
    for (int base = 0; base < CCO_BASES; base++) {
        binding.base[base] = (char *)w->sim.ranks[me].memory[base].data;
        binding.layouts[base] = w->layouts[base];
    }
    if (!cco_levels_takes(w->c.coll, q->bytes) || !cco_levels_fits(&groups, q))
        sequence_fail(w, "not for levels");
    return cco_levels_run(&ranks[me], q, &binding);
}

/* Cores that share caches and memories by fours and by some, or that nobody knows; ranks bound to
 * them in turn, or round about. */
static void make_groups(int size)
{
    cco_core_place places[SEQUENCE_RANKS];
    const int cache = 1 + rand() % 20, memory = cache * (1 + rand() % 8), known = rand() % 4;
    const bool round = rand() % 2;
    for (int i = 0; i < size; i++) {
        const int core = round ? i * 7 % size : i;
        places[i] = (cco_core_place){known == 0 ? -1 : core / cache * cache,
                                     known <= 1 ? -1 : core / memory * memory};
    }
    if (!cco_groups_make(&groups, places, size)) {
        printf("FAIL no groups of %d ranks\n", size);
        exit(1);
    }
    out_of_order += !groups.in_order;
    uneven += groups.count * groups.most > size;
}

static void open_levels(int size)
{
    static char *memory;
    const size_t share = 2 * cco_levels_share();
    free(memory);
    memory = calloc((size_t)groups.count * (size_t)groups.most, share);
    for (int i = 0; i < size; i++) {
        ranks[i].scratch = scratches[i];
        cco_levels_open(&ranks[i], &groups, i, memory, share, share / 2);
    }
}

static world_case some_case(int size)
{
    static const cco_coll colls[] = {CCO_BARRIER, CCO_BCAST, CCO_REDUCE, CCO_ALLREDUCE};
    static const int elements[] = {0, 1, 2, 30, 31, 100, 900, 1024};
    const cco_coll coll = colls[rand() % 4];
    const int properties = cco_coll_infos[coll].properties;
    return (world_case){.coll = coll,
                        .p = size,
                        .n = elements[(size_t)rand() % (sizeof elements / sizeof elements[0])],
                        .root = properties & CCO_ROOTED ? rand() % size : 0,
                        .in_place = world_in_place(coll) && rand() % 2,
                        .commutative = !(properties & CCO_REDUCTION) || !groups.in_order ||
                                       rand() % 2,
                        .seed = 1 + (unsigned)rand() % 1000};
}

static void run_sequence(void)
{
    static const int sizes[] = {65, 96, 128, 200};
    sequence s = {.calls = 5, .looks = 4000000, .call = call, .explain = explain};
    s.size = rand() % 2 ? sizes[rand() % 4] : 2 + rand() % 60;
    make_groups(s.size);
    open_levels(s.size);
    for (int i = 0; i < s.calls; i++)
        s.cases[i] = some_case(s.size);
    sequence_run(&s);
    cco_groups_free(&groups);
}

int main(int argc, char **argv)
{
    const int sequences = argc > 1 ? atoi(argv[1]) : 60;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    sequence_open(SEQUENCE_RANKS, STACK);
    for (int i = 0; i < SEQUENCE_RANKS; i++)
        scratches[i] = malloc(cco_levels_scratch());
    for (int i = 0; i < sequences && sequence_failures == 0; i++) {
        srand(seed + (unsigned)i);
        run_sequence();
        if (sequence_failures > 0)
            printf("again: conformance-levels 1 %u\n", seed + (unsigned)i);
    }
    for (int i = 0; i < SEQUENCE_RANKS; i++)
        free(scratches[i]);
    sequence_close();
    printf("%ld calls, %ld sequences of groups out of order, %ld of unlike groups, %ld failures\n",
           sequence_runs, out_of_order, uneven, sequence_failures);
    return sequence_failures > 0 || (sequences > 50 && (out_of_order == 0 || uneven == 0));
}
