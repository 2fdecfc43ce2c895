/* SPDX-License-Identifier: BSD-3-Clause */
/* test_onesided.c - one-sided steps in the simulator and in the engine: right algorithms come out
 * right, wrong ones are found, each for its own reason.
 *
 *   test-onesided FILE             compares what two of them look like with a file
 *   test-onesided FILE --renew     writes it */
#include <mpi.h>

#include "onesided.h"
#include "sched/engine_run.h"
#include "simulator/print.h"
#include "testing/testing.h"
#include "world.h"

enum { RANKS = 17 };

/* The schedules of all ranks; false if the builder refused one. */
static bool build(world *w, const onesided_algo *algo)
{
    for (int i = 0; i < w->c.p; i++) {
        cco_sched *s = cco_sched_new(&w->problems[i]);
        algo->build(s, &w->problems[i]);
        w->sim.ranks[i].sched = s;
        if (cco_sched_error(s) != MPI_SUCCESS) {
            snprintf(w->sim.why, sizeof w->sim.why, "refused: class %s",
                     cco_sched_error(s) == MPI_ERR_INTERN ? "MPI_ERR_INTERN" : "another");
            return false;
        }
    }
    return true;
}

static void end(world *w)
{
    for (int i = 0; i < w->c.p; i++)
        cco_sched_free((cco_sched *)(uintptr_t)w->sim.ranks[i].sched);
    world_free(w);
}

/* Builds and runs twice on other data; then again without data, where only places are watched. */
static bool passes(world *w, const onesided_algo *algo)
{
    if (!build(w, algo))
        return false;
    for (unsigned seed = 1; seed <= 2; seed++) {
        world_fill(w, seed);
        if (!cco_sim_run(&w->sim) || !world_check(w))
            return false;
    }
    w->sim.count_only = true;
    return cco_sim_run(&w->sim);
}

static void try_case(const onesided_algo *algo, const world_case *c)
{
    world *w = world_new(c);
    snprintf(testing_label, sizeof testing_label, "%s p=%d n=%d root=%d%s%s%s", algo->name, c->p,
             c->n, c->root, c->in_place ? " in place" : "", c->gaps ? " with gaps" : "",
             c->commutative ? "" : " not commutative");
    const bool fine = passes(w, algo);
    CHECK(fine, "%s", w->sim.why);
    end(w);
}

static void test_right(const onesided_algo *algo)
{
    static const int sizes[] = {0, 1, 5, 64};
    const int properties = cco_coll_infos[algo->coll].properties;
    for (int p = 1; p <= RANKS; p++)
        for (int root = 0; root < (properties & CCO_ROOTED ? p : 1); root++)
            for (int k = 0; k < LEN(sizes) * 8; k++) {
                const world_case c = {.coll = algo->coll,
                                      .p = p,
                                      .root = root,
                                      .n = sizes[k / 8],
                                      .in_place = k & 1,
                                      .gaps = k & 2,
                                      .commutative = k & 4};
                if ((c.in_place && !world_in_place(c.coll)) ||
                    (!c.commutative && !(properties & CCO_REDUCTION)))
                    continue;
                try_case(algo, &c);
            }
}

static void test_wrong(void)
{
    static const struct {
        fault fault;
        onesided_name algo;
        int least; /* ranks that it takes */
        const char *why;
    } cases[] = {
        {NO_AWAIT, RING, 2, "ends after round"},
        {NO_NOTIFY, RING, 2, "deadlock: rank 1 waits in step"},
        {EARLY_NOTIFY, RING, 2, "not ordered after the put by rank"},
        {EARLY_READ, RING, 3, "nobody wrote"},
        {EARLY_READ, CHAIN, 2, "not ordered after the put by rank"},
        {OVERWRITE, CHAIN, 2, "not ordered after the"},
        {OUTSIDE, RING, 2, " of slot 0 of rank"},
        {SECOND_NOTIFY, RING, 2, "nobody awaits a notification from rank"},
        {NOT_OPEN, RING, 2, "before a notification by it"},
        {NOT_OPEN, PULL, 2, "before a notification by it"},
        {LEAVE, PULL, 2, "not ordered after the get by rank"},
        {SHORT, PULL, 3, "not ordered after the get by rank"},
        {INDIRECT, COLLECT, 3, "not ordered after the put by rank 1"},
        {REUSE, MIXED, 2, "not ordered after the"},
        {TWICE, RING, 2, "not ordered after the put by rank"},
        {SAME_PLACE, PULL, 3, "of one round touch the same memory"},
        {UNEQUAL, RING, 2, "exposes 2 spans, rank 0 exposes 1"},
        {SLOT, RING, 2, "refused: class MPI_ERR_INTERN"},
        {SELF, RING, 2, "refused: class MPI_ERR_INTERN"},
        {LATE_EXPOSE, RING, 2, "refused: class MPI_ERR_INTERN"},
    };
    for (int k = 0; k < LEN(cases); k++)
        for (int p = cases[k].least; p <= RANKS; p++) {
            const onesided_algo *algo = &onesided_algos[cases[k].algo];
            world *w = world_new(
                &(world_case){.coll = algo->coll, .p = p, .n = 64, .commutative = true});
            onesided_fault = cases[k].fault;
            snprintf(testing_label, sizeof testing_label, "%s p=%d wrong %d", algo->name, p,
                     cases[k].fault);
            const bool fine = passes(w, algo);
            CHECK(!fine && strstr(w->sim.why, cases[k].why) != NULL, "\"%s\", expected \"%s\"",
                  w->sim.why, cases[k].why);
            onesided_fault = RIGHT;
            end(w);
        }
}

static void test_counts(void)
{
    world *w = world_new(&(world_case){.coll = CCO_ALLGATHER, .p = 5, .n = 10});
    CHECK(passes(w, &onesided_algos[RING]), "%s", w->sim.why);
    CHECK(w->sim.messages == 20, "%d puts", (int)w->sim.messages);
    CHECK(w->sim.bytes == 200, "%d bytes", (int)w->sim.bytes);
    CHECK(w->sim.notifications == 25, "%d notifications", (int)w->sim.notifications);
    CHECK(w->sim.chain == 5, "chain of %d", w->sim.chain);
    end(w);
}

/* What one of puts and one of gets look like. */
static void print_some(FILE *file)
{
    static const onesided_name shown[] = {RING, PULL};
    for (int k = 0; k < LEN(shown); k++) {
        const onesided_algo *algo = &onesided_algos[shown[k]];
        world *w = world_new(&(world_case){.coll = algo->coll, .p = 3, .n = 8, .gaps = true});
        fprintf(file, "%s/%s p=3 n=8, with gaps\n", cco_coll_infos[algo->coll].name, algo->name);
        const bool fine = build(w, algo);
        for (int i = 0; fine && i < 3; i++) {
            fprintf(file, "rank %d\n", i);
            cco_print(w->sim.ranks[i].sched, file);
        }
        end(w);
    }
}

static void test_print(const char *path)
{
    char *now = NULL, before[8192] = "";
    size_t n = 0;
    FILE *file = open_memstream(&now, &n);
    print_some(file);
    fclose(file);
    file = fopen(path, "r");
    CHECK(file != NULL, "cannot read %s", path);
    if (file != NULL) {
        CHECK(fread(before, 1, sizeof before - 1, file) > 0, "nothing in %s", path);
        fclose(file);
    }
    CHECK(strcmp(now, before) == 0, "the schedules are not those of %s, but:\n%s", path, now);
    free(now);
}

/* A transport that writes down what the engine asks of it; `done` with every second test. */
static char asked[512];
static int tests;

__attribute__((format(printf, 1, 2))) static int ask(const char *format, ...)
{
    const size_t at = strlen(asked);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(asked + at, sizeof asked - at, format, arguments);
    va_end(arguments);
    return MPI_SUCCESS;
}

static void *open_transfer(void *shared, int messages)
{
    ask("open %d; ", messages);
    return shared;
}

static void ignore(void *transfer)
{
    (void)transfer;
}

static int expose(void *transfer, int slot, const cco_data *data)
{
    return ask("expose %d %zu at %td; ", slot, data->count, data->at - (char *)transfer);
}

static int put(void *transfer, int peer, const cco_data *from, int slot, size_t place)
{
    return ask("put %zu at %td to %d %d %zu; ", from->count, from->at - (char *)transfer, peer,
               slot, place);
}

static int get(void *transfer, int peer, int slot, size_t place, const cco_data *to)
{
    return ask("get %zu at %td of %d %d %zu; ", to->count, to->at - (char *)transfer, peer, slot,
               place);
}

static int notify(void *transfer, int peer)
{
    (void)transfer;
    return ask("notify %d; ", peer);
}

static int await(void *transfer, int peer)
{
    (void)transfer;
    return ask("await %d; ", peer);
}

static int test(void *transfer, bool *done)
{
    (void)transfer;
    *done = tests++ % 2;
    return ask(*done ? "end; " : "test; ");
}

static void test_engine(void)
{
    char memory[16];
    const cco_transport two_sided = {.open = open_transfer, .close = ignore, .begin = ignore};
    const cco_transport one_sided = {.open = open_transfer,
                                     .close = ignore,
                                     .begin = ignore,
                                     .test = test,
                                     .expose = expose,
                                     .put = put,
                                     .get = get,
                                     .notify = notify,
                                     .await = await};
    const cco_layout bytes = {.size = 1, .extent = 1, .dense = true};
    const cco_binding binding = {.base = {memory, memory, memory},
                                 .layouts = {bytes, bytes, bytes}};
    const cco_problem q = {.rank = 1, .size = 4, .layouts = binding.layouts};
    cco_sched *s = cco_sched_new(&q);
    cco_expose(s, (cco_span){CCO_OUT, CCO_OUT, 2, 8});
    cco_expose(s, (cco_span){0});
    cco_round(s);
    cco_put(s, 2, (cco_span){CCO_IN, CCO_IN, 1, 3}, 1, 5);
    cco_get(s, 0, 0, 4, (cco_span){CCO_TMP, CCO_TMP, 7, 2});
    cco_notify(s, 3);
    cco_await(s, 3);
    CHECK(cco_engine_new(s, &two_sided, memory) == NULL && asked[0] == '\0',
          "an engine for a transport without one-sided steps");
    CHECK(!cco_engine_able(s, &two_sided) && cco_engine_able(s, &one_sided), "able");
    cco_engine *e = cco_engine_new(s, &one_sided, memory);
    for (int k = 0; e != NULL && k < 2; k++)
        CHECK(cco_engine_run(e, &binding) == MPI_SUCCESS, "run %d", k);
#define RUN                                                                                        \
    "expose 0 8 at 2; expose 1 0 at 0; test; end; notify 3; put 3 at 1 to 2 1 5; "                 \
    "get 2 at 7 of 0 0 4; await 3; test; end; "
    CHECK(strcmp(asked, "open 4; " RUN RUN) == 0, "%s", asked);
    cco_engine_free(e);
    cco_sched_free(s);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[2], "--renew") == 0) {
        FILE *file = fopen(argv[1], "w");
        if (file == NULL)
            return 1;
        print_some(file);
        return fclose(file) != 0;
    }
    for (int i = 0; i < ONESIDED_ALGOS; i++)
        test_right(&onesided_algos[i]);
    test_wrong();
    onesided_cases();
    test_counts();
    if (argc > 1)
        test_print(argv[1]);
    test_engine();
    return testing_end("test_onesided");
}
