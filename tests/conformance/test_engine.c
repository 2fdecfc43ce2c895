/* SPDX-License-Identifier: BSD-3-Clause */
/* test_engine.c - every registered algorithm through the engine, all ranks in one process: in
 * random order, messages delayed at random, each schedule started twice; then with one operation
 * that fails, for every operation.  A block that has landed under way (sched/block_progress.h) must
 * stay what it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/block_progress.h"
#include "transport/hook/hook.h"
#include "simulator/matcher.h"
#include "world.h"

enum { LOOKS = 1000000 }; /* more than any of these takes */

typedef struct seat {
    cco_endpoint endpoint;
    cco_hook hook;
    cco_engine *engine;
    cco_binding binding;
    cco_block_progress_map *map; /* of the blocks that it receives, where there are several */
    cco_block_progress *landing;
    char **landed; /* what each was */
    bool done;
} seat;

static long runs, failed_well, failures, landed;

static cco_sched *build(const cco_algo *algo, world *w, int rank)
{
    cco_problem *q = &w->problems[rank];
    q->counts = cco_algo_shares(algo, q->coll) ? w->counts : NULL;
    for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
        q->params[k] = algo->params[k].preset;
    cco_sched *s = cco_sched_new(q);
    algo->build(s, q);
    return s;
}

/* Where a block lies that a rank receives, and how many bytes of memory it has. */
static char *block_of(const seat *one, const cco_problem *q, int block, size_t *n)
{
    const cco_span span = cco_block(q, &q->out, block);
    const cco_layout *layout = &q->layouts[span.layout];
    *n = span.n / layout->size * (size_t)layout->extent;
    return one->binding.base[span.base] + span.at;
}

/* For cco_block_progress_look: where a rank sits, and what it is to do. */
typedef struct watch {
    seat *one;
    const cco_problem *problem;
} watch;

static int land(void *owner, int block)
{
    const watch *w = owner;
    size_t n;
    const char *at = block_of(w->one, w->problem, block, &n);
    w->one->landed[block] = malloc(n + 1);
    memcpy(w->one->landed[block], at, n);
    return MPI_SUCCESS;
}

static void watch_landings(seat *seats, const world *w)
{
    for (int i = 0; i < w->c.p && cco_coll_streams(w->c.coll); i++) {
        seats[i].map = cco_block_progress_map_new(seats[i].engine, &w->problems[i]);
        seats[i].landing = cco_block_progress_new(w->problems[i].out.blocks);
        seats[i].landed = calloc((size_t)w->problems[i].out.blocks + 1, sizeof *seats[i].landed);
    }
}

/* All that landed is as it was, and each block is listed once. */
static bool check_landings(seat *seats, const world *w)
{
    bool good = true;
    for (int i = 0; i < w->c.p && cco_coll_streams(w->c.coll); i++) {
        seat *one = &seats[i];
        const int blocks = w->problems[i].out.blocks;
        char *seen = calloc((size_t)blocks + 1, 1);
        landed += one->landing->landed;
        cco_block_progress_rest(one->landing);
        for (int k = 0; k < cco_block_progress_count(one->landing); k++)
            good = good && !seen[one->landing->list[k]]++;
        good = good && one->map != NULL && cco_block_progress_count(one->landing) == blocks;
        for (int block = 0; block < blocks; block++) {
            size_t n;
            const char *at = block_of(one, &w->problems[i], block, &n), *was = one->landed[block];
            good = good && (was == NULL || memcmp(at, was, n) == 0);
            free(one->landed[block]);
        }
        free(seen);
        free(one->landed);
        cco_block_progress_free(one->landing);
        cco_block_progress_map_free(one->map);
        one->landing = NULL;
    }
    return good;
}

/* Binds every rank's engine to its memory and starts it. */
static int start_all(seat *seats, const world *w)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < w->c.p && rc == MPI_SUCCESS; i++) {
        for (int base = 0; base < CCO_BASES; base++) {
            seats[i].binding.base[base] = (char *)w->sim.ranks[i].memory[base].data;
            seats[i].binding.layouts[base] = w->layouts[base];
        }
        seats[i].done = false;
        rc = cco_engine_start(seats[i].engine, &seats[i].binding);
    }
    return rc;
}

/* Tests ranks at random until all are done.  MPI_ERR_PENDING if that never comes. */
static int run_all(seat *seats, const world *w)
{
    int left = w->c.p, rc = start_all(seats, w);
    for (int look = 0; left > 0 && rc == MPI_SUCCESS; look++) {
        seat *one = &seats[rand() % w->c.p];
        if (!one->done) {
            rc = cco_engine_test(one->engine, &one->done);
            left -= one->done;
            const watch watch = {one, &w->problems[one - seats]};
            if (rc == MPI_SUCCESS && !one->done && one->landing != NULL)
                rc = cco_block_progress_look(one->landing, one->map, one->engine, rand() % 2, land,
                                             (void *)&watch);
        }
        if (look > LOOKS)
            return MPI_ERR_PENDING;
    }
    return rc;
}

/* What the simulator saw written, which world_check wants to know. */
static unsigned char **keep_marks(const world *w)
{
    unsigned char **marks = calloc((size_t)w->c.p, sizeof *marks);
    for (int i = 0; i < w->c.p; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        marks[i] = malloc(out->size + 1);
        memcpy(marks[i], out->written, out->size);
    }
    return marks;
}

static void give_marks(world *w, unsigned char **marks)
{
    for (int i = 0; i < w->c.p; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        memcpy(out->written, marks[i], out->size);
    }
}

static void fail(const cco_algo *algo, const world *w, const char *what)
{
    failures++;
    printf("FAIL %s/%s p=%d n=%d root=%d%s%s: %s %s\n", cco_coll_infos[w->c.coll].name, algo->name,
           w->c.p, w->c.n, w->c.root, w->c.in_place ? " in place" : "",
           w->c.gaps ? " with gaps" : "", what, w->sim.why);
}

/* With seeds that are odd, copies before reductions are left out (engine_spare.h); where there is
 * no kernel, the reductions make them. */
static void sit_down(seat *seats, world *w, cco_matcher *matcher, uint64_t seed)
{
    static cco_transport words;
    words = cco_transport_hook;
    words.words = true;
    for (int i = 0; i < w->c.p; i++) {
        seats[i].endpoint = (cco_endpoint){matcher, i};
        seats[i].hook = (cco_hook){.inner = &cco_transport_matcher,
                                   .shared = &seats[i].endpoint,
                                   .seed = seed != 0 ? seed + (uint64_t)i : 0};
        seats[i].engine = cco_engine_new(w->sim.ranks[i].sched,
                                         seed % 2 ? &words : &cco_transport_hook, &seats[i].hook);
    }
}

/* Runs once in the simulator, then through engines. */
static void run(const cco_algo *algo, world *w, seat *seats, uint64_t seed)
{
    cco_matcher matcher = {.reduce = w->sim.reduce};
    sit_down(seats, w, &matcher, seed);
    for (unsigned again = 1; again <= 2; again++) {
        world_fill(w, again);
        if (!cco_sim_run(&w->sim)) {
            fail(algo, w, "in the simulator:");
            break;
        }
        unsigned char **marks = keep_marks(w);
        world_fill(w, again);
        watch_landings(seats, w);
        const int rc = run_all(seats, w);
        if (!check_landings(seats, w))
            fail(algo, w, "a block that had landed changed, or was not listed once");
        give_marks(w, marks);
        for (int i = 0; i < w->c.p; i++)
            free(marks[i]);
        free(marks);
        runs++;
        if (rc != MPI_SUCCESS || matcher.mismatch || matcher.first != NULL || !world_check(w))
            fail(algo, w, rc == MPI_ERR_PENDING ? "no end" : "through the engine:");
    }
    for (int i = 0; i < w->c.p; i++)
        cco_engine_free(seats[i].engine);
}

/* Lets operation `k` of rank `rank` fail: the engine must say so, and nothing may be left. */
static bool run_failing(const cco_algo *algo, world *w, seat *seats, int rank, long k)
{
    cco_matcher matcher = {.reduce = w->sim.reduce};
    sit_down(seats, w, &matcher, 0);
    seats[rank].hook.fail = k;
    world_fill(w, 1);
    const int rc = run_all(seats, w);
    const bool reached = seats[rank].hook.operations >= k;
    if ((rc == MPI_ERR_OTHER) != reached)
        fail(algo, w, "an operation failed, and the engine said something else");
    for (int i = 0; i < w->c.p; i++)
        cco_engine_free(seats[i].engine);
    if (matcher.first != NULL)
        fail(algo, w, "messages are left after a failure");
    failed_well += reached;
    return reached;
}

static void try_case(const cco_algo *algo, const world_case *c)
{
    world *w = world_new(c);
    seat *seats = calloc((size_t)c->p, sizeof *seats);
    if (cco_algo_refuses(algo, &w->problems[0]) == NULL) {
        for (int i = 0; i < c->p; i++)
            w->sim.ranks[i].sched = build(algo, w, i);
        for (uint64_t seed = 0; seed < 3; seed++)
            run(algo, w, seats, seed);
        for (int rank = 0; rank < c->p && c->p == 4; rank++)
            for (long k = 1; run_failing(algo, w, seats, rank, k); k++)
                ;
    }
    for (int i = 0; i < c->p; i++)
        cco_sched_free((cco_sched *)(uintptr_t)w->sim.ranks[i].sched);
    free(seats);
    world_free(w);
}

static void try_algorithm(const cco_algo *algo, cco_coll coll)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 8, 13}, elements[] = {0, 1, 7, 200};
    const bool rooted = cco_coll_infos[coll].properties & CCO_ROOTED;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        for (size_t k = 0; k < sizeof elements / sizeof elements[0]; k++)
            for (int variant = 0; variant < 4; variant++) {
                const world_case c = {.coll = coll,
                                      .p = ranks[i],
                                      .n = elements[k],
                                      .root = rooted ? ranks[i] / 2 : 0,
                                      .in_place = variant & 1,
                                      .gaps = variant & 2,
                                      .commutative = true};
                if (!c.in_place || world_in_place(coll))
                    try_case(algo, &c);
            }
}

int main(void)
{
    int algorithms = 0;
    srand(1);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_algo_of((cco_coll)coll, i) != NULL; i++, algorithms++)
            try_algorithm(cco_algo_of((cco_coll)coll, i), (cco_coll)coll);
    printf("%d algorithms, %ld runs through the engine, %ld blocks there before the end, %ld runs "
           "with a failing operation, %ld failures\n",
           algorithms, runs, landed, failed_well, failures);
    return failures > 0 || runs == 0 || landed == 0;
}
