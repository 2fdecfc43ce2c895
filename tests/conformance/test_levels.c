/* SPDX-License-Identifier: BSD-3-Clause */
/* test_levels.c - small calls of many ranks over two levels of slot rings (transport/shm/levels.h),
 * all ranks in one process: each a coroutine that gives way to another, by chance, where it would
 * wait.  Ranks are on the cores of imagined nodes; every rank goes on to the next call when it is
 * through.
 *
 *     conformance-levels [SEQUENCES [SEED]]
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "core/log.h"
#include "transport/local/local.h"
#include "transport/shm/levels.h"
#include "world.h"

enum {
    CALLS = 5, /* of a sequence */
    RANKS = 200,
    STACK = 128 << 10,
    LOOKS = 4000000, /* more than any sequence takes */
};

typedef struct rank {
    ucontext_t context;
    char *stack, *scratch;
    cco_levels levels;
    int calls; /* begun */
    bool done;
} rank;

static rank ranks[RANKS];
static cco_groups groups;
static ucontext_t scheduler;
static int running, size; /* rank, ranks */
static world *worlds[CALLS];
static int entered[CALLS];
static long runs, failures, out_of_order, uneven;

/* What core/pause.c does elsewhere: others run. */
void __wrap_cco_pause(int *tries);
void __wrap_cco_pause(int *tries)
{
    (void)tries;
    swapcontext(&ranks[running].context, &scheduler);
}

bool __wrap_cco_pause_crowds(void);
bool __wrap_cco_pause_crowds(void)
{
    return rand() % 2;
}

/* What core/log.c does elsewhere. */
void cco_log(cco_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

/* What transport/local/local.c does elsewhere, with the operation of the world. */
int cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                   const cco_reduce_op *op)
{
    const world *w = worlds[ranks[running].calls - 1];
    (void)transfer, (void)op;
    for (size_t i = 0; i < into->count; i++)
        w->sim.reduce(from->at + i * w->element, into->at + i * w->element, w->element);
    return MPI_SUCCESS;
}

static void fail(const world *w, const char *what)
{
    failures++;
    printf("FAIL %s p=%d n=%d root=%d%s%s, %d groups: %s %s\n", cco_coll_infos[w->c.coll].name,
           w->c.p, w->c.n, w->c.root, w->c.in_place ? " in place" : "",
           w->c.commutative ? "" : " not commutative", groups.count, what, w->sim.why);
}

static void call(int me, const world *w)
{
    cco_binding binding = {.base = {NULL}};
    for (int base = 0; base < CCO_BASES; base++) {
        binding.base[base] = (char *)w->sim.ranks[me].memory[base].data;
        binding.layouts[base] = w->layouts[base];
    }
    const int now = ranks[me].calls++;
    entered[now]++;
    if (cco_levels_run(&ranks[me].levels, &w->problems[me], &binding) != MPI_SUCCESS)
        fail(w, "error");
    if (w->c.coll == CCO_BARRIER && entered[now] < size)
        fail(w, "a rank left before all had come");
}

static void live(int me)
{
    for (int i = 0; i < CALLS; i++)
        call(me, worlds[i]);
    ranks[me].done = true;
}

/* Cores that share caches and memories by fours and by some, or that nobody knows; ranks bound to
 * them in turn, or round about. */
static void make_groups(void)
{
    cco_core_place places[RANKS];
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

static void open_levels(void)
{
    static char *memory;
    const size_t share = 2 * cco_levels_share();
    free(memory);
    memory = calloc((size_t)groups.count * (size_t)groups.most, share);
    for (int i = 0; i < size; i++) {
        ranks[i].levels.scratch = ranks[i].scratch;
        cco_levels_open(&ranks[i].levels, &groups, i, memory, share, share / 2);
    }
}

static void begin_ranks(void)
{
    for (int i = 0; i < size; i++) {
        getcontext(&ranks[i].context);
        ranks[i].context.uc_stack.ss_sp = ranks[i].stack;
        ranks[i].context.uc_stack.ss_size = STACK;
        ranks[i].context.uc_link = &scheduler;
        ranks[i].calls = 0;
        ranks[i].done = false;
        makecontext(&ranks[i].context, (void (*)(void))live, 1, i);
    }
}

/* Lets ranks run by chance until all are through; false if that never comes. */
static bool run_ranks(void)
{
    int left = size;
    begin_ranks();
    for (int look = 0; left > 0 && look < LOOKS; look++) {
        running = rand() % size;
        if (ranks[running].done)
            continue;
        swapcontext(&scheduler, &ranks[running].context);
        left -= ranks[running].done;
    }
    return left == 0;
}

/* Runs in the simulator what some algorithm makes of the case, for world_check wants to know what
 * is written; then gives the ranks their data again. */
static void mark(world *w)
{
    const cco_algo *algo = NULL;
    for (int i = 0; (algo = cco_algo_of(w->c.coll, i)) != NULL; i++)
        if (algo->refuses(&w->problems[0]) == NULL)
            break;
    for (int i = 0; i < size; i++) {
        cco_problem *q = &w->problems[i];
        for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            q->params[k] = algo->params[k].preset;
        cco_sched *s = cco_sched_new(q);
        algo->build(s, q);
        w->sim.ranks[i].sched = s;
    }
    world_fill(w, w->c.seed);
    if (!cco_sim_run(&w->sim))
        fail(w, "in the simulator:");
}

static void refill(world *w)
{
    unsigned char *marks[RANKS];
    for (int i = 0; i < size; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        marks[i] = malloc(out->size + 1);
        memcpy(marks[i], out->written, out->size);
    }
    world_fill(w, w->c.seed);
    for (int i = 0; i < size; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        memcpy(out->written, marks[i], out->size);
        free(marks[i]);
    }
}

static world_case some_case(void)
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
    size = rand() % 2 ? sizes[rand() % 4] : 2 + rand() % 60;
    make_groups();
    open_levels();
    for (int i = 0; i < CALLS; i++) {
        const world_case c = some_case();
        worlds[i] = world_new(&c);
        entered[i] = 0;
        mark(worlds[i]);
        refill(worlds[i]);
        if (!cco_levels_takes(c.coll, worlds[i]->problems[0].bytes) ||
            !cco_levels_fits(&groups, &worlds[i]->problems[0]))
            fail(worlds[i], "not for levels");
    }
    if (!run_ranks())
        fail(worlds[0], "this call or one after it has no end");
    for (int i = 0; i < CALLS; i++) {
        if (!world_check(worlds[i]))
            fail(worlds[i], "");
        for (int k = 0; k < size; k++)
            cco_sched_free((cco_sched *)(uintptr_t)worlds[i]->sim.ranks[k].sched);
        world_free(worlds[i]);
        runs++;
    }
    cco_groups_free(&groups);
}

int main(int argc, char **argv)
{
    const int sequences = argc > 1 ? atoi(argv[1]) : 60;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    for (int i = 0; i < RANKS; i++) {
        ranks[i].stack = malloc(STACK);
        ranks[i].scratch = malloc(cco_levels_scratch());
    }
    for (int i = 0; i < sequences && failures == 0; i++) {
        srand(seed + (unsigned)i);
        run_sequence();
        if (failures > 0)
            printf("again: conformance-levels 1 %u\n", seed + (unsigned)i);
    }
    for (int i = 0; i < RANKS; i++) {
        free(ranks[i].stack);
        free(ranks[i].scratch);
    }
    printf("%ld calls, %ld sequences of groups out of order, %ld of unlike groups, %ld failures\n",
           runs, out_of_order, uneven, failures);
    return failures > 0 || (sequences > 50 && (out_of_order == 0 || uneven == 0));
}
