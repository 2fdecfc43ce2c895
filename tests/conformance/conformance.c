/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance.c - every registered algorithm against the definition of its collective, in one
 * process: number of ranks x size x root x in place x commutative x gaps, half of them with empty
 * messages, each schedule run twice on other data; some are built while one allocation after the
 * other fails.  A new algorithm adds nothing here.
 *
 *   conformance-sim [COLLECTIVE[/ALGORITHM]]             run the cases; neighbor_* is several
 *   conformance-sim --share K N [SAMPLE]    every N-th algorithm from the K-th, SAMPLE-th size
 *   conformance-sim COLLECTIVE[/ALGORITHM]|all --first   the same, up to the first failure
 *   conformance-sim COLLECTIVE[/ALGORITHM]|all --counts  messages, bytes, rounds, scratch, steps
 *   conformance-sim COLLECTIVE/ALGORITHM --print P N     the schedules of P ranks, N elements,
 *                                                       with presets, then small parameters
 *   conformance-sim [COLLECTIVE[/ALGORITHM]] --random COUNT [SEED]   cases at random (random.c) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "mpi/mpi_compat.h"
#include "nodes.h"
#include "random.h"
#include "sharing.h"
#include "simulator/print.h"
#include "world.h"

static const int many[] = {64, 65, 127, 128, 255, 256, 257};
/* SHOWN: a random graph, with edges that occur several times. */
enum { SMALL = 33, ALL_ROOTS = 9, LARGEST = 7, GRAPHS = 5, SHOWN = 42 };

static long cases, failures;
static int sample = 1;
static bool stop_at_first;

static void fail(const cco_algo *algo, const world *w)
{
    failures++;
    if (stop_at_first)
        exit(1);
    if (failures <= 40)
        printf("FAIL %s/%s p=%d n=%d root=%d nodes=%#x graph=%u%s%s%s%s: %s\n",
               cco_coll_infos[w->c.coll].name, algo->name, w->c.p, w->c.n, w->c.root, w->c.nodes,
               w->c.graph, w->c.in_place ? " in place" : "",
               w->c.commutative ? "" : " not commutative", w->c.gaps ? " with gaps" : "",
               w->c.empties ? " with empty messages" : "", w->sim.why);
}

/* The parameters of the problems to come; NULL for the presets. */
static const long *chosen;

static uint64_t trace; /* of the schedules that were built: differs if they do */

static void add_to_trace(const cco_sched *s)
{
    for (int i = 0; i < s->count; i++) {
        const cco_step *step = &s->steps[i];
        const uint64_t where = (uint64_t)step->a.at + (uint64_t)step->b.at;
        trace = trace * 31 + (uint64_t)step->kind + (uint64_t)step->peer * 7 + where * 1009;
    }
}

static void give_params(const cco_algo *algo, cco_problem *q)
{
    for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
        q->params[k] = chosen != NULL ? chosen[k] : algo->params[k].preset;
}

static bool build(const cco_algo *algo, world *w)
{
    for (int i = 0; i < w->c.p; i++) {
        cco_sched *s = cco_sched_new(&w->problems[i]);
        w->problems[i].counts = cco_algo_shares(algo, w->c.coll) ? world_counts(w, i) : NULL;
        give_params(algo, &w->problems[i]);
        algo->build(s, &w->problems[i]);
        w->sim.ranks[i].sched = s;
        add_to_trace(s);
        if (cco_sched_error(s) != 0) {
            snprintf(w->sim.why, sizeof w->sim.why, "rank %d: the builder refused (class %d)", i,
                     cco_sched_error(s));
            return false;
        }
    }
    return true;
}

/* With the allocation after the next `k` failing.  True if none was left to fail. */
static bool build_with_failure(const cco_algo *algo, world *w, int rank, long k)
{
    failing_begin(k);
    cco_sched *s = cco_sched_new(&w->problems[rank]);
    if (s != NULL)
        algo->build(s, &w->problems[rank]);
    const bool failed = failing_end();
    const int error = s != NULL ? cco_sched_error(s) : MPI_ERR_NO_MEM;
    cco_sched_free(s);
    if (error != (failed ? MPI_ERR_NO_MEM : MPI_SUCCESS)) {
        snprintf(w->sim.why, sizeof w->sim.why, "rank %d: class %d with allocation %ld failing",
                 rank, error, k);
        fail(algo, w);
        return true;
    }
    return !failed;
}

/* A builder that gets no memory says so. */
static void lack_memory(const cco_algo *algo, world *w)
{
    for (int i = 0; i < w->c.p; i++) {
        cco_problem *q = &w->problems[i];
        q->counts = cco_algo_shares(algo, w->c.coll) ? world_counts(w, i) : NULL;
        give_params(algo, q);
        for (long k = 0; cco_algo_refuses(algo, q) == NULL && !build_with_failure(algo, w, i, k);)
            k++;
    }
}

/* An algorithm that needs to know which ranks of a node receive what (neighbor_mates.h) refuses
 * where it does not, but not where it is asked without a topology. */
static void lack_mates(const cco_algo *algo, world *w)
{
    cco_problem q = w->problems[0];
    cco_neighbors near = *q.near;
    near.mates = NULL;
    q.near = &near;
    const bool refused = cco_algo_refuses(algo, &q) != NULL;
    q.near = NULL;
    if (!refused || cco_algo_refuses(algo, &q) != NULL) {
        snprintf(w->sim.why, sizeof w->sim.why, "%s without what it needs to know",
                 refused ? "refused without a topology" : "not refused");
        fail(algo, w);
    }
}

/* A graph in which a loop begins on a rank and does not end there is none, as the MPI should have
 * said: nothing is copied, and the empty list of sources is not read. */
static void lack_end(const cco_algo *algo, cco_coll coll)
{
    static const int itself[] = {0};
    world *w = world_new(&(world_case){.coll = coll, .p = 1, .n = 7});
    const cco_neighbors near = {.degrees = {.in = 0, .out = 1}, .out = itself};
    cco_problem q = w->problems[0];
    q.near = &near;
    q.in = (cco_side){.base = CCO_IN, .blocks = 1, .layout = CCO_IN, .each = w->element};
    q.out = (cco_side){.base = CCO_OUT, .layout = CCO_OUT, .each = w->element};
    if (cco_algo_refuses(algo, &q) == NULL) {
        give_params(algo, &q);
        cco_sched *s = cco_sched_new(&q);
        algo->build(s, &q);
        if (cco_sched_error(s) != MPI_SUCCESS || s->count > 0) {
            snprintf(w->sim.why, sizeof w->sim.why, "%d steps for a loop without an end, class %d",
                     s->count, cco_sched_error(s));
            fail(algo, w);
        }
        cco_sched_free(s);
    }
    world_free(w);
}

static void try_lacks(const cco_algo *algo, cco_coll coll)
{
    static const int ranks[] = {4, 6, 7, 9};
    const bool knows = knows_nodes(algo, coll);
    if (cco_is_neighbor(coll) && !knows)
        lack_end(algo, coll);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        world_case c = {.coll = coll, .p = ranks[i], .n = 64, .nodes = knows, .commutative = true};
        c.root = cco_coll_infos[coll].properties & CCO_ROOTED ? ranks[i] / 2 : 0;
        c.graph = world_graph_for(algo, &c, SHOWN);
        for (c.nodes = knows; c.nodes < (knows ? 7 : 1); c.nodes++) {
            world *w = world_new(&c);
            lack_memory(algo, w);
            if (knows && w->near != NULL)
                lack_mates(algo, w);
            world_free(w);
        }
    }
}

/* Before an algorithm that asks for them, the leaders of nodes get counts: by gathers of few bytes
 * and of many. */
static void try_sharing(const cco_algo *algo, cco_coll coll)
{
    static const int ranks[] = {1, 3, 6, 9, 33, 256};
    if (!knows_nodes(algo, coll) || !cco_algo_shares(algo, coll) ||
        cco_coll_infos[coll].properties & CCO_ROOTED)
        return;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        world_case c = {.coll = coll, .p = ranks[i], .n = 7, .commutative = true, .graph = SHOWN};
        for (c.nodes = 1; c.nodes < WORLD_NODES; c.nodes++) {
            world *w = world_new(&c);
            if (!sharing_works(w))
                fail(algo, w);
            world_free(w);
        }
    }
}

static bool run_twice(world *w)
{
    for (unsigned seed = 1; seed <= 2; seed++, w->sim.checked = true) {
        world_fill(w, seed);
        if (!cco_sim_run(&w->sim) || !world_check(w))
            return false;
    }
    return true;
}

static bool same_words(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* All ranks must say the same, or some would run another algorithm. */
static bool agree_on_usable(const cco_algo *algo, world *w)
{
    for (int i = 0; i < w->c.p; i++) {
        give_params(algo, &w->problems[i]);
        if (!same_words(cco_algo_refuses(algo, &w->problems[i]),
                        cco_algo_refuses(algo, &w->problems[0]))) {
            snprintf(w->sim.why, sizeof w->sim.why, "rank %d is not of rank 0's opinion", i);
            return false;
        }
    }
    return true;
}

/* Messages that the schedules sent; 0 for a problem that the algorithm cannot do. */
static uint64_t try(const cco_algo *algo, const world_case *c)
{
    uint64_t messages = 0;
    world *w = world_new(c);
    if (!agree_on_usable(algo, w)) {
        fail(algo, w);
    } else if (cco_algo_refuses(algo, &w->problems[0]) == NULL) {
        cases++;
        if (!build(algo, w) || !run_twice(w))
            fail(algo, w);
        messages = w->sim.messages;
    }
    for (int i = 0; i < c->p; i++)
        cco_sched_free((cco_sched *)(uintptr_t)w->sim.ranks[i].sched);
    world_free(w);
    return messages;
}

/* In place or not, commutative or not, with gaps or not, and one of these with empty messages. */
static void try_variants(const cco_algo *algo, const world_case *base)
{
    const bool reduction = cco_coll_infos[base->coll].properties & CCO_REDUCTION;
    for (int variant = 0; variant < 8; variant++) {
        world_case c = *base;
        c.in_place = variant & 1;
        c.commutative = !(variant & 2);
        c.gaps = variant & 4;
        c.empties = c.gaps == (c.n % 2 == 0);
        if ((c.in_place && !world_in_place(c.coll)) || (!c.commutative && !reduction))
            continue;
        try(algo, &c);
    }
}

static void try_roots(const cco_algo *algo, cco_coll coll, int p, int n)
{
    const bool rooted = cco_coll_infos[coll].properties & CCO_ROOTED;
    const int all = rooted ? p : 1;
    world_case c = {.coll = coll, .p = p, .n = n};
    for (int i = 0; cco_is_neighbor(coll) && i < GRAPHS; i++) {
        c.graph = (unsigned)(GRAPHS * n + i);
        each_division(algo, &c, try_variants);
    }
    if (cco_is_neighbor(coll))
        return;
    for (int root = 0; root < all; root += p <= ALL_ROOTS || root == all - 1 ? 1 : (all - 1) / 2)
        each_division(algo, &(world_case){.coll = coll, .p = p, .root = root, .n = n},
                      try_variants);
}

static void fail_parameter(const cco_algo *algo, cco_coll coll, const char *name)
{
    failures++;
    if (stop_at_first)
        exit(1);
    printf("FAIL %s/%s: the schedule does not depend on %s\n", cco_coll_infos[coll].name,
           algo->name, name);
}

/* Whether a sample lacks it: each size meets the powers of two, and some other numbers of ranks. */
static bool left_out(int p, int size)
{
    return ((p > ALL_ROOTS && (p & (p - 1)) != 0) || size == LARGEST) && (p + size) % sample != 0;
}

static void try_small(const cco_algo *algo, cco_coll coll)
{
    static const int sizes[4] = {0, 1, 7, 64};
    for (int p = 1; p <= 17; p++)
        for (int i = 0; i < 4; i++)
            if (!left_out(p, i))
                try_roots(algo, coll, p, sizes[i]);
}

/* One parameter after the other takes its limits and small values, where pieces are many; the
 * schedules must depend on it. */
static void vary_parameters(const cco_algo *algo, cco_coll coll,
                            void (*visit)(const cco_algo *algo, cco_coll coll))
{
    for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++) {
        const cco_param *param = &algo->params[k];
        const long values[] = {param->min, param->min + 1, param->min + 2, 7, param->max};
        uint64_t first = 0;
        bool differs = false;
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            long params[CCO_PARAMS];
            if (values[v] < param->min || values[v] > param->max)
                continue;
            for (int i = 0; i < CCO_PARAMS; i++) /* no presets: the seed needs an order */
                params[i] = algo->params[i].name != NULL ? algo->params[i].min + 1 : 0;
            const long preset = algo->params[0].preset;
            params[0] = preset > 8 ? 8 : preset; /* sizes: small enough to cut something */
            params[k] = values[v];
            chosen = params;
            trace = 0;
            visit(algo, coll);
            chosen = NULL;
            first = v == 0 ? trace : first;
            differs = differs || trace != first;
        }
        if (!differs)
            fail_parameter(algo, coll, param->name);
    }
}

static void try_algorithm(const cco_algo *algo, cco_coll coll)
{
    const long before = cases;
    for (int p = 1; p <= SMALL; p++) {
        const int sizes[] = {0, 1, 2, 7, 64, p - 1, p + 1, 1000};
        const bool few = p > ALL_ROOTS && knows_nodes(algo, coll);
        const int count = p <= ALL_ROOTS ? LARGEST + 1 : few ? 4 : LARGEST;
        for (int i = 0; i < count; i++)
            if (!left_out(p, i))
                try_roots(algo, coll, p, sizes[i]);
    }
    vary_parameters(algo, coll, try_small);
    world_case c = {.coll = coll, .p = SMALL, .n = 7, .commutative = true};
    c.nodes = knows_nodes(algo, coll) ? 4 : 0;
    const uint64_t messages = try(algo, &c);
    if (cases == before) {
        failures++;
        printf("FAIL %s/%s can do no problem at all\n", cco_coll_infos[coll].name, algo->name);
    }
    if (messages > 4 * SMALL * 5)
        return;
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        c.p = many[i];
        c.root = many[i] / 3 * !!(cco_coll_infos[coll].properties & CCO_ROOTED);
        try(algo, &c);
    }
}

/* The case, and the parameters if they are not the presets. */
static void show_case(const cco_algo *algo, const world_case *c)
{
    printf("%s/%s p=%d n=%d", cco_coll_infos[c->coll].name, algo->name, c->p, c->n);
    if (cco_coll_infos[c->coll].properties & CCO_ROOTED)
        printf(" root=%d", c->root);
    for (int k = 0; chosen != NULL && k < CCO_PARAMS && algo->params[k].name != NULL; k++)
        printf(" %s=%ld", algo->params[k].name, chosen[k]);
    printf("%s%s%s: ", c->in_place ? " in place" : "", c->commutative ? "" : " not commutative",
           c->empties ? " with empty messages" : "");
}

/* What the schedules of all ranks need besides messages. */
static void show_local(const world *w, bool print)
{
    size_t scratch = 0;
    int copies = 0, reductions = 0, steps = 0;
    for (int i = 0; i < w->c.p; i++) {
        const cco_sched *s = w->sim.ranks[i].sched;
        scratch += s->scratch;
        steps += s->count;
        for (int k = 0; k < s->count; k++) {
            copies += s->steps[k].kind == CCO_STEP_COPY;
            reductions += s->steps[k].kind == CCO_STEP_REDUCE;
        }
    }
    printf(", %zu scratch, %d copies, %d reductions", scratch, copies, reductions);
    if (!print) /* with these the steps are to be seen */
        printf(", %d steps", steps);
    printf("\n");
}

/* Builds, runs and shows one problem. */
static void show(const cco_algo *algo, const world_case *c, bool print)
{
    world *w = world_new(c);
    if (cco_algo_refuses(algo, &w->problems[0]) == NULL && build(algo, w) && run_twice(w)) {
        show_case(algo, c);
        printf("%llu messages, %llu bytes, %d rounds, %d in a row",
               (unsigned long long)w->sim.messages, (unsigned long long)w->sim.bytes, w->sim.rounds,
               w->sim.chain);
        show_local(w, print);
        for (int i = 0; print && i < c->p; i++) {
            printf("rank %d\n", i);
            cco_print(w->sim.ranks[i].sched, stdout);
        }
    }
    for (int i = 0; i < c->p; i++)
        cco_sched_free((cco_sched *)(uintptr_t)w->sim.ranks[i].sched);
    world_free(w);
}

/* With the presets, then with small parameters: presets are too large to cut anything here. */
static void show_schedules(const cco_algo *algo, const world_case *c)
{
    long small[CCO_PARAMS];
    show(algo, c, true);
    for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++) {
        small[k] = algo->params[k].min + 1;
        printf("%s%s=%ld", k == 0 ? "with " : " ", algo->params[k].name, small[k]);
        chosen = small;
    }
    if (chosen != NULL) {
        printf("\n");
        show(algo, c, true);
        chosen = NULL;
    }
}

/* What an algorithm costs, in cases that differ in what matters to one or another.  The largest
 * size is a limit at which groups of nodes change theirs (groups.c), the largest number of ranks
 * one at which exchanges have a second round. */
static void show_counts(const cco_algo *algo, cco_coll coll)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 7, 8, 13, 33}, sizes[] = {1, 3, 1000, 2048};
    const unsigned properties = cco_coll_infos[coll].properties;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        world_case any = {.coll = coll, .p = ranks[i], .commutative = true};
        any.nodes = knows_nodes(algo, coll) ? 3 : 0;
        any.graph = world_graph_for(algo, &any, SHOWN);
        const bool many = ranks[i] > 32; /* costly */
        for (int k = many ? 2 : 0; k < (any.nodes != 0 && !many ? 4 : 3); k++)
            for (int variant = 0; variant < (many ? 1 : 9); variant++) {
                world_case c = any;
                c.n = sizes[k];
                c.root = variant & 1 ? ranks[i] / 2 : 0;
                c.in_place = variant & 2;
                c.commutative = !(variant & 4);
                c.empties = variant & 8;
                if ((!(variant & 1) || ((properties & CCO_ROOTED) && c.root > 0)) &&
                    (!c.in_place || world_in_place(coll)) &&
                    (c.commutative || (properties & CCO_REDUCTION)))
                    show(algo, &c, false);
            }
    }
}

/* Where an algorithm begins to do otherwise, with the problem on the limit: elements of 8 bytes in
 * reductions, else of one; two ranks to a node. */
static void show_limits(const cco_algo *algo, cco_coll coll)
{
    static const struct {
        int p, n;
    } limits[] = {
        {33, 64},  /* the longest vectors that all ranks get from ever so many (contributions.h) */
        {8, 256},  /* as much as they get of longer ones */
        {16, 1},   /* the most leaders that do little in turn (groups.c) */
        {18, 512}, /* what is enough for more of them */
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        world_case c = {.coll = coll, .p = limits[i].p, .n = limits[i].n, .commutative = true};
        c.nodes = knows_nodes(algo, coll) ? 3 : 0;
        c.graph = world_graph_for(algo, &c, SHOWN);
        show(algo, &c, false);
    }
}

static bool wanted(const char *only, cco_coll coll, const cco_algo *algo)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", cco_coll_infos[coll].name, algo->name);
    const size_t stem = only != NULL ? strcspn(only, "*") : 0;
    return only == NULL || strcmp(only, "all") == 0 || strcmp(only, name) == 0 ||
           (only[stem] == '*' && strncmp(only, name, stem) == 0) ||
           strcmp(only, cco_coll_infos[coll].name) == 0;
}

/* Does what the arguments say with one algorithm. */
static void handle(const cco_algo *algo, cco_coll coll, int argc, char **argv)
{
    world_case c = {.coll = coll, .p = 4, .n = 1000, .commutative = true};
    c.nodes = knows_nodes(algo, coll) ? 3 : 0;
    if (argc == 5 && strcmp(argv[2], "--print") == 0) {
        c.p = atoi(argv[3]);
        c.n = atoi(argv[4]);
        c.graph = world_graph_for(algo, &c, SHOWN);
        if (c.p > 0 && c.p <= CCO_SIM_RANKS && c.n >= 0)
            show_schedules(algo, &c);
    } else if (argc == 3 && strcmp(argv[2], "--counts") == 0) {
        try_lacks(algo, coll);
        try_sharing(algo, coll);
        show_counts(algo, coll);
        show_limits(algo, coll);
        vary_parameters(algo, coll, show_counts);
    } else {
        try_lacks(algo, coll);
        try_sharing(algo, coll);
        try_algorithm(algo, coll);
    }
}

static bool try_random(const cco_algo *algo, const world_case *c, const long *params)
{
    const long before = failures;
    chosen = params;
    try(algo, c);
    chosen = NULL;
    return failures == before;
}

static int summary(int algorithms)
{
    printf("%d algorithms, %ld cases, %ld failures\n", algorithms, cases, failures);
    return failures > 0 || algorithms == 0;
}

/* --random COUNT [SEED], from word `at` on */
static int handle_random(int at, int argc, char **argv)
{
    random_run r = {at > 1 ? argv[1] : NULL, 0, 1, wanted, try_random};
    if (argc > at + 1)
        r.count = atol(argv[at + 1]);
    if (argc > at + 2)
        r.seed = strtoul(argv[at + 2], NULL, 10);
    return summary(r.count > 0 ? random_cases(&r) : 0);
}

int main(int argc, char **argv)
{
    int algorithms = 0, number = 0;
    const bool share = (argc == 4 || argc == 5) && strcmp(argv[1], "--share") == 0;
    for (int at = 1; at <= 2 && at < argc; at++)
        if (strcmp(argv[at], "--random") == 0)
            return handle_random(at, argc, argv);
    sample = share && argc == 5 && atoi(argv[4]) > 0 ? atoi(argv[4]) : 1;
    stop_at_first = argc == 3 && strcmp(argv[2], "--first") == 0;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_node_algo_of((cco_coll)coll, i) != NULL; i++) {
            const cco_algo *algo = cco_node_algo_of((cco_coll)coll, i);
            if (share ? number++ % atoi(argv[3]) != atoi(argv[2])
                      : !wanted(argc > 1 ? argv[1] : NULL, (cco_coll)coll, algo))
                continue;
            algorithms++;
            handle(algo, (cco_coll)coll, argc, argv);
        }
    return summary(algorithms);
}
