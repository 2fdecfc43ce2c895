/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.c - see sequence.h.  Link with --wrap=NAME for each __wrap_NAME. */
#define _GNU_SOURCE
#include "sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/core_place.h"
#include "base/log.h"
#include "transport/local/local.h"

typedef struct rank {
    ucontext_t context;
    int calls; /* begun */
    bool done;
} rank;

long sequence_runs, sequence_failures, sequence_logged;
size_t sequence_cache;

static rank ranks[SEQUENCE_RANKS];
static char *stacks[SEQUENCE_RANKS];
static size_t stack_size;
static ucontext_t scheduler;
static int running; /* rank */
static const sequence *now;
static world *worlds[SEQUENCE_CALLS];
static int entered[SEQUENCE_CALLS];

/* What base/pause.c does elsewhere: others run. */
void __wrap_cco_pause(int *tries);
void __wrap_cco_pause(int *tries)
{
    (void)tries;
    swapcontext(&ranks[running].context, &scheduler);
}

bool __wrap_cco_pause_crowds(void);
bool __wrap_cco_pause_crowds(void)
{
    if (rand() % 4 == 0)
        __wrap_cco_pause(NULL);
    return rand() % 2;
}

/* What base/core_place.c does elsewhere; ranks may see different caches. */
cco_last_cache cco_last_cache_here(void)
{
    return (cco_last_cache){sequence_cache > 0 ? sequence_cache : SIZE_MAX, 1 + rand() % 4};
}

/* What base/log.c does elsewhere. */
void cco_log(cco_log_level level, const char *format, ...)
{
    (void)level, (void)format;
    sequence_logged++;
}

/* What transport/local/local.c does elsewhere, with the operation of the world. */
int __wrap_cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                          const cco_reduce_op *op);
int __wrap_cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                          const cco_reduce_op *op)
{
    const world *w = worlds[ranks[running].calls - 1];
    (void)transfer, (void)op;
    for (size_t i = 0; i < into->count; i++)
        w->sim.reduce(from->at + i * w->element, into->at + i * w->element, w->element);
    return MPI_SUCCESS;
}

void sequence_kernel(const void *a, const void *b, void *to, size_t n)
{
    const world *w = worlds[ranks[running].calls - 1];
    for (size_t at = 0; at < n * w->element; at += w->element) {
        char element[WORLD_ELEMENT];
        memcpy(element, (const char *)b + at, w->element);
        w->sim.reduce((const char *)a + at, element, w->element);
        memcpy((char *)to + at, element, w->element);
    }
}

void sequence_fail(const world *w, const char *what)
{
    sequence_failures++;
    printf("FAIL %s p=%d n=%d root=%d shape=%u%s%s: %s %s\n", cco_coll_infos[w->c.coll].name,
           w->c.p, w->c.n, w->c.root, w->c.shape, w->c.in_place ? " in place" : "",
           w->c.commutative ? "" : " not commutative", what, w->sim.why);
    if (now->explain != NULL)
        now->explain();
}

static void live(int me)
{
    for (int i = 0; i < now->calls; i++) {
        world *w = worlds[i];
        ranks[me].calls++;
        entered[i]++;
        if (now->call(me, w) != MPI_SUCCESS)
            sequence_fail(w, "error");
        if (w->c.coll == CCO_BARRIER && entered[i] < now->size)
            sequence_fail(w, "a rank left before all had come");
    }
    ranks[me].done = true;
}

static void begin_ranks(void)
{
    for (int i = 0; i < now->size; i++) {
        getcontext(&ranks[i].context);
        ranks[i].context.uc_stack.ss_sp = stacks[i];
        ranks[i].context.uc_stack.ss_size = stack_size;
        ranks[i].context.uc_link = &scheduler;
        ranks[i].calls = 0;
        ranks[i].done = false;
        makecontext(&ranks[i].context, (void (*)(void))live, 1, i);
    }
}

/* Lets a rank run until it waits; true when it is through. */
__attribute__((noinline)) static bool resume(int rank)
{
    running = rank;
    swapcontext(&scheduler, &ranks[rank].context);
    return ranks[rank].done;
}

/* Lets ranks run at random until all are through; false if that never comes. */
static bool run_ranks(void)
{
    int left = now->size;
    begin_ranks();
    for (long look = 0; left > 0 && look < now->looks; look++) {
        const int rank = rand() % now->size;
        if (!ranks[rank].done)
            left -= resume(rank);
    }
    return left == 0;
}

/* Runs in the simulator what some algorithm makes of the case, for world_check wants to know what
 * is written. */
static void mark(world *w)
{
    const cco_algo *algo = NULL;
    for (int i = 0; (algo = cco_algo_of(w->c.coll, i)) != NULL; i++)
        if (!cco_algo_shares(algo, w->c.coll) && cco_algo_refuses(algo, &w->problems[0]) == NULL)
            break;
    for (int i = 0; i < w->c.p; i++) {
        cco_problem *q = &w->problems[i];
        for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            q->params[k] = algo->params[k].preset;
        cco_sched *s = cco_sched_new(q);
        algo->build(s, q);
        w->sim.ranks[i].sched = s;
    }
    world_fill(w, w->c.seed);
    if (!cco_sim_run(&w->sim))
        sequence_fail(w, "in the simulator:");
}

/* Gives the ranks their data again, and keeps the marks. */
static void refill(world *w)
{
    unsigned char *marks[SEQUENCE_RANKS];
    for (int i = 0; i < w->c.p; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        marks[i] = malloc(out->size + 1);
        memcpy(marks[i], out->written, out->size);
    }
    world_fill(w, w->c.seed);
    for (int i = 0; i < w->c.p; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        memcpy(out->written, marks[i], out->size);
        free(marks[i]);
    }
}

void sequence_open(int count, size_t stack)
{
    stack_size = stack;
    for (int i = 0; i < count; i++)
        stacks[i] = malloc(stack);
}

void sequence_close(void)
{
    for (int i = 0; i < SEQUENCE_RANKS; i++) {
        free(stacks[i]);
        stacks[i] = NULL;
    }
}

void sequence_run(const sequence *s)
{
    now = s;
    for (int i = 0; i < s->calls; i++) {
        worlds[i] = world_new(&s->cases[i]);
        entered[i] = 0;
        mark(worlds[i]);
        refill(worlds[i]);
    }
    if (!run_ranks())
        sequence_fail(worlds[0], "this call or one after it has no end");
    for (int i = 0; i < s->calls; i++) {
        if (!world_check(worlds[i]))
            sequence_fail(worlds[i], "");
        for (int k = 0; k < s->size; k++)
            cco_sched_free((cco_sched *)(uintptr_t)worlds[i]->sim.ranks[k].sched);
        world_free(worlds[i]);
        sequence_runs++;
    }
}
