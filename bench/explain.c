/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c - crestacoll-explain: what the algorithms of a collective do for one problem, counted
 * by running the schedules of all ranks in the simulator, as JSON.  Needs no MPI and no launcher.
 *
 *   crestacoll-explain COLLECTIVE PROCESSES [--bytes N] [--algorithm NAME[?PARAM=VALUE&...]]
 *                      [--root R] [--schedule RANK] [--node-shape MEMORIESxCACHESxCORES]
 *                      [--nodes NODES] [--topology torus:D|stencil:D|random:K]
 *
 * Exit code 2, and a line on standard error, for what cannot be asked. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explain.h"
#include "graph.h"
#include "json.h"
#include "plan/preset.h"
#include "sched/step.h"
#include "transport/shm/crossings.h"
#include "transport/shm/flat.h"

static const char *const names[FIGURES] = {"rounds",        "messages_sent",  "messages_received",
                                           "bytes_sent",    "bytes_received", "bytes_copied",
                                           "bytes_reduced", "scratch"};

/* A schedule can be as long as its parameters say; the machine must not suffer. */
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    const rlim_t most = (rlim_t)2 << 30;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
#endif
}

static void put_params(const cco_algo *algo, const long *values)
{
    printf("\"params\": [");
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++) {
        const cco_param *p = &algo->params[i];
        printf(i ? ", {" : "{");
        json_field("name", p->name, ", ");
        printf("\"value\": %ld, \"default\": %ld, \"min\": %ld, \"max\": %ld, ", values[i],
               p->preset, p->min, p->max);
        json_field("help", p->help, "}");
    }
    printf("],\n   ");
}

static uint64_t least(const explained *x, int figure)
{
    uint64_t found = x->ranks[0].figures[figure];
    for (int i = 1; i < x->size; i++)
        if (x->ranks[i].figures[figure] < found)
            found = x->ranks[i].figures[figure];
    return found;
}

static uint64_t most(const explained *x, int figure)
{
    uint64_t found = 0;
    for (int i = 0; i < x->size; i++)
        if (x->ranks[i].figures[figure] > found)
            found = x->ranks[i].figures[figure];
    return found;
}

static void put_figures(const explained *x)
{
    const uint64_t sent = most(x, SENT), received = most(x, RECEIVED);
    json_number("rounds", most(x, ROUNDS), ", ");
    json_number("chain", (uint64_t)x->chain, ", ");
    json_number("messages", x->messages, ", ");
    json_number("bytes", x->bytes, ", ");
    json_number("scratch", most(x, SCRATCH), ",\n   \"busiest\": {");
    json_number("messages", sent > received ? sent : received, ", ");
    json_number("bytes_sent", most(x, BYTES_SENT), "},\n   \"ranks\": {");
    for (int i = 0; i < FIGURES; i++) {
        json_text(names[i]);
        printf(": {");
        json_number("min", least(x, i), ", ");
        json_number("max", most(x, i), i + 1 < FIGURES ? "}, " : "}},\n   ");
    }
}

static void put_span(const cco_sched *s, const char *key, cco_span span)
{
    static const char *const bases[CCO_BASES] = {"in", "out", "tmp"};
    printf(", \"%s\": {\"base\": \"%s\", \"begin\": %td, \"end\": %td}", key, bases[span.base],
           span.at, span.at + (ptrdiff_t)cco_span_memory(s, span));
}

static void put_steps(const cco_sched *s)
{
    static const char *const kinds[] = {"send", "recv", "copy",   "reduce", "expose",
                                        "put",  "get",  "notify", "await"};
    const char *before = "";
    int round = 0;
    for (int i = 0; i < s->count; i++) {
        const cco_step *step = &s->steps[i];
        if (step->kind == CCO_STEP_ROUND) {
            round++;
            continue;
        }
        const bool receives = step->kind == CCO_STEP_RECV || step->kind == CCO_STEP_GET;
        const bool local = step->kind == CCO_STEP_COPY || step->kind == CCO_STEP_REDUCE;
        const bool from = !receives && step->kind != CCO_STEP_NOTIFY &&
                          step->kind != CCO_STEP_AWAIT;
        printf("%s\n    {\"round\": %d, \"kind\": \"%s\", ", before, round, kinds[step->kind]);
        if (!local && step->kind != CCO_STEP_EXPOSE)
            printf("\"peer\": %d, ", step->peer);
        if (step->kind >= CCO_STEP_EXPOSE && step->kind <= CCO_STEP_GET)
            printf("\"slot\": %d, \"at\": %zu, ", step->slot, step->place);
        json_number("bytes", receives ? step->b.n : step->a.n, "");
        if (from)
            put_span(s, "from", step->a);
        if (receives || local)
            put_span(s, "to", step->b);
        printf("}");
        before = ",";
    }
}

static void put_rank(const explained *x, int rank)
{
    printf("\"rank\": {");
    json_number("rank", (uint64_t)rank, ", ");
    for (int i = 0; i < FIGURES; i++)
        json_number(names[i], x->ranks[rank].figures[i], ", ");
    printf("\"steps\": [");
    put_steps(x->schedules[rank]);
    printf("]},\n   ");
}

/* SIGXCPU ends a process after so many seconds of work; 0: never. */
static void limit_time(rlim_t seconds)
{
    const rlim_t most = seconds > 0 ? seconds : RLIM_INFINITY;
    setrlimit(RLIMIT_CPU, &(struct rlimit){most, RLIM_INFINITY});
}

static void put_algorithm(const explain_options *o, const cco_algo *algo, const long *params,
                          const explained *x)
{
    printf("\n  {");
    json_field("name", algo->name, ", ");
    json_field("doc", algo->doc, ",\n   ");
    put_params(algo, params);
    printf("\"usable\": %s, ", x->reason == NULL ? "true" : "false");
    json_field("reason", x->reason != NULL ? x->reason : "", ", ");
    if (x->reason == NULL && x->why[0] == '\0') {
        put_figures(x);
        if (o->node.cores > 0) {
            json_number("to_another_cache", x->caches, ", ");
            json_number("to_another_memory", x->memories, ", ");
        }
        if (o->nodes != NULL) {
            json_number("messages_between_nodes", x->messages_between, ", ");
            json_number("bytes_between_nodes", x->bytes_between, ", ");
        }
        if (o->schedule >= 0)
            put_rank(x, o->schedule);
    }
    printf("\"too_large\": %s, ", x->too_large ? "true" : "false");
    json_field("error", x->why, "}");
}

/* Each algorithm in a process of its own: one whose schedule has no end, or nearly none, must not
 * take the others with it. */
static void explain_one(const explain_options *o, const cco_algo *algo, even *e)
{
    enum { SECONDS = 20 };
    explained x = {.too_large = true, .why = "takes too long: try fewer ranks or larger pieces"};
    long params[CCO_PARAMS] = {0};
    int status = 0;
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        params[i] = o->algo != NULL ? o->params[i] : algo->params[i].preset;
    fflush(stdout);
    const pid_t child = fork();
    if (child <= 0) { /* if there is no other process, this one does it */
        limit_time(SECONDS);
        explain_run(&x, algo, params, e, o);
        limit_time(0);
        put_algorithm(o, algo, params, &x);
        explain_free(&x);
        if (child == 0) {
            fflush(stdout);
            _exit(0);
        }
    } else if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        put_algorithm(o, algo, params, &x);
    }
}

/* The problem, and the algorithm of a rule that names none: `p2p`, `hier` where nodes are said. */
static void put_problem(const explain_options *o, const even *e)
{
    cco_problem first = even_problem(e, 0);
    first.nodes = o->nodes;
    json_field("collective", cco_coll_infos[o->coll].name, ", ");
    json_number("bytes", e->bytes, ", ");
    json_number("element", e->layouts[CCO_IN].size, ", ");
    json_number("processes", (uint64_t)o->size, ", ");
    if (cco_coll_infos[o->coll].properties & CCO_ROOTED)
        json_number("root", (uint64_t)o->root, ", ");
    else
        printf("\"root\": null, ");
    json_field("preset", cco_preset_algo(&first, true)->name, ", ");
}

static void put_lines(const char *name, const cco_crossings *c, const char *end)
{
    printf("\"%s\": {", name);
    json_number("lines", (uint64_t)c->lines, ", ");
    json_number("to_another_cache", (uint64_t)c->caches, ", ");
    json_number("to_another_memory", (uint64_t)c->memories, end);
}

/* What a small allreduce of `shm` moves on that node: no messages, but cache lines. */
static bool put_node(const explain_options *o)
{
    const cco_node_shape *node = &o->node;
    cco_core_place *places = malloc((size_t)o->size * sizeof *places);
    cco_groups groups = {.count = 0};
    for (int i = 0; places != NULL && i < o->size; i++)
        places[i] = cco_core_place_in(node, i);
    const bool fine = places != NULL && cco_groups_make(&groups, places, o->size);
    const bool flat = o->size <= CCO_FLAT_RANKS || groups.count == 0;
    if (fine) {
        const cco_crossings one = cco_crossings_flat(places, o->size);
        const cco_crossings two = flat ? one : cco_crossings_levels(&groups, places, o->size);
        printf("\"node\": {\"shape\": \"%dx%dx%d\", ", node->memories, node->caches, node->cores);
        json_number("groups", flat ? 1 : (uint64_t)groups.count, ", ");
        put_lines("shm", &two, "}, ");
        put_lines("without_groups", &one, "}}, ");
    }
    cco_groups_free(&groups);
    free(places);
    return fine;
}

int main(int argc, char **argv)
{
    explain_options o;
    even e;
    bool fine = true;
    limit_memory();
    if (!explain_options_read(&o, argc, argv))
        return 2;
    if (!even_begin(&e, o.coll, o.size, o.root, o.bytes)) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    e.near = o.near;
    printf("{");
    put_problem(&o, &e);
    if (o.node.cores > 0 && o.coll == CCO_ALLREDUCE)
        fine = put_node(&o);
    printf("\"algorithms\": [");
    for (int i = 0; explain_algo(&o, i) != NULL; i++)
        if (o.algo == NULL || o.algo == explain_algo(&o, i)) {
            printf(o.algo == NULL && i > 0 ? "," : "");
            explain_one(&o, explain_algo(&o, i), &e);
        }
    printf("]}\n");
    even_end(&e);
    graph_free(o.near, o.size);
    cco_node_map_drop(o.nodes);
    return fine ? 0 : 1;
}
