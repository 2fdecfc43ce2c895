/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c - crestacoll-bench: every implementation of a collective in one job, sample by
 * sample, and verified.
 *
 *   mpirun -n P crestacoll-bench --collectives A,B --impl mpi,nonblock --sizes 8,1024
 *          [--samples N] [--budget S]
 *          [--timing back_to_back|synchronised] [--skew US] [--root rotate|fixed]
 *          [--buffers hot,cold,written] [--calls blocking|begun] [--batch-us US] [--rounds 0|1]
 *          [--topology torus:D|stencil:D|random:K] [--label L] [--rules NAME=SPEC ...]
 *
 * --buffers: each of them in turn, size by size.  --calls begun: split-phase calls that end as soon
 * as they have begun.
 *
 * --skew: every rank starts a call 0 to US microseconds after the agreed time, at random, but the
 * same for all implementations; the time counts from the last rank's start to the slowest's end.
 *
 * --rounds 1: also all samples of a size, in lines of the type "rounds". Samples with one index
 * were taken right after each other.
 *
 * --topology: neighbourhood collectives, which need it, and only these; what is right there says
 * p2p:linear, since some MPIs are wrong.
 *
 * --rules NAME=SPEC: the rules SPEC (docs/choosing.md) take part under this name.
 *
 * COLLECTIVE=IMPL in the list is for that collective only. Rank 0 prints JSON lines: one
 * header, records, notes, and an end. Exit code 1: some result was wrong; 2: usage. `mpi` must
 * be the first implementation: ratios are to it. What an implementation cannot do here is a
 * note: nothing else is timed under its name. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crestacoll.h"
#include "json.h"

struct run {
    struct bench_options o;
    struct bench_world w;
    struct bench_series *series; /* one for each implementation and set of rules */
    int n_series;
    struct bench_series *now; /* copies of those that do the collective at hand */
    int n_now, *verdicts;
    int cell, cells;   /* (collective, size) pairs: done, all */
    double line_us[2]; /* before and after the cell at hand */
    int wrong;
    double start;
};

static void print_record(const struct run *r, const struct bench_problem *q,
                         const struct bench_series *s, struct bench_result res, double mpi_median,
                         double *ratios)
{
    const int n = res.kept;
    printf("{\"type\": \"record\", \"collective\": \"%s\", \"implementation\": ", q->coll->name);
    json_text(s->impl);
    printf(", \"mpi\": ");
    json_text(r->o.label);
    printf(", \"ranks\": %d, \"bytes\": %zu, \"timing\": \"%s\", \"root\": \"%s\", \"buffers\": "
           "\"%s\"",
           q->size, q->bytes, r->o.timing == BENCH_SYNCHRONISED ? "synchronised" : "back_to_back",
           !q->coll->rooted ? "none"
           : r->o.rotate    ? "rotate"
                            : "fixed",
           bench_buffers_name(r->o.buffers));
    printf(", \"calls\": \"%s\"", r->o.begun ? "begun" : "blocking");
    printf(", \"skew_us\": %g", r->o.skew_us);
    if (r->o.topology != NULL)
        printf(", \"topology\": \"%s\"", r->o.topology);
    printf(", \"oversubscribed\": %s, \"verified\": %s, \"batch\": %d",
           r->w.oversubscribed ? "true" : "false", s->verified ? "true" : "false", s->batch);
    printf(", \"samples\": %d, \"samples_asked\": %d, \"samples_dropped\": %d", n, r->o.samples,
           res.taken - n);
    if (r->w.exchange != NULL)
        printf(", \"line_us\": [%.4g, %.4g]", r->line_us[0], r->line_us[1]);
    const double median = bench_quantile(s->us, n, 0.5);
    printf(", \"median_us\": %.6g, \"p10_us\": %.6g, \"p90_us\": %.6g, \"min_us\": %.6g", median,
           bench_quantile(s->us, n, 0.1), bench_quantile(s->us, n, 0.9),
           bench_quantile(s->us, n, 0));
    printf(", \"ratio_to_mpi\": %.6g, \"ratio_p10\": %.6g, \"ratio_p90\": %.6g}\n",
           mpi_median > 0 ? median / mpi_median : 0, bench_quantile(ratios, n, 0.1),
           bench_quantile(ratios, n, 0.9));
}

/* Rank 0, before any series is sorted. */
static void print_rounds(const struct run *r, const struct bench_problem *q, int rounds)
{
    printf("{\"type\": \"rounds\", \"collective\": \"%s\", \"bytes\": %zu, \"us\": {",
           q->coll->name, q->bytes);
    for (int k = 0; k < r->n_now; k++) {
        printf("%s", k > 0 ? ", " : "");
        json_text(r->now[k].impl);
        printf(": [");
        for (int i = 0; i < rounds; i++)
            printf("%s%.6g", i > 0 ? ", " : "", r->now[k].us[i]);
        printf("]");
    }
    printf("}}\n");
}

/* Rank 0. Ratios of samples taken in the same round share what disturbed that round; they must
 * be formed before any series is sorted. */
static void print_cell(const struct run *r, const struct bench_problem *q, struct bench_result res)
{
    const int n = res.kept;
    double *ratios = calloc((size_t)(n * r->n_now + 1), sizeof *ratios);
    if (r->o.rounds)
        print_rounds(r, q, n);
    for (int k = 0; ratios && k < r->n_now; k++)
        for (int i = 0; i < n; i++)
            ratios[k * n + i] = r->now[0].us[i] > 0 ? r->now[k].us[i] / r->now[0].us[i] : 0;
    const double median = bench_quantile(r->now[0].us, n, 0.5);
    for (int k = 0; ratios && k < r->n_now; k++)
        print_record(r, q, &r->now[k], res, median, ratios + k * n);
    printf("{\"type\": \"progress\", \"done\": %d, \"of\": %d}\n", r->cell, r->cells);
    fflush(stdout);
    free(ratios);
}

/* Seconds left, as rank 0 sees it, so that all ranks skip the same cells. */
static double time_left(const struct run *r)
{
    double left = r->w.rank == 0 ? r->o.end - bench_now() : -1e9;
    bench_max(&r->w, &left, 1, MPI_DOUBLE);
    return left;
}

static void say_wrong(struct run *r, const struct bench_problem *q, struct bench_series *s,
                      const char *when)
{
    char what[160];
    s->verified = 0;
    r->wrong = 1;
    snprintf(what, sizeof what, "%s %s %zu bytes", s->impl, q->coll->name, q->bytes);
    bench_print_note(&r->w, what, when);
}

static void leave_out(struct run *r, const struct bench_problem *q, struct bench_series *s)
{
    char what[160], why[80];
    s->origin->never = q->coll;
    snprintf(what, sizeof what, "%s %s", s->impl, q->coll->name);
    snprintf(why, sizeof why, "left out on %d ranks: it cannot do this here", r->w.size);
    bench_print_note(&r->w, what, why);
}

/* Do all ranks get what the MPI itself gives? What is refused goes. */
static void check_all(struct run *r, struct bench_problem *q, const char *when)
{
    const int roots = bench_problem_roots(q, r->o.rotate), n = r->n_now;
    int *verdicts = r->verdicts;
    const struct bench_calls *calls = r->o.begun ? &bench_begins : &bench_cresta;
    memset(verdicts, 0, (size_t)n * sizeof *verdicts);
    for (int i = 0; i < roots; i++) {
        bench_problem_expect(q, &r->w, i, roots);
        for (int k = 0; k < n; k++) {
            if (verdicts[k] == BENCH_REFUSED) /* on all ranks */
                continue;
            const int verdict = (int)bench_problem_check(q, calls, r->now[k].comm, i, roots);
            verdicts[k] = verdict > verdicts[k] ? verdict : verdicts[k];
        }
    }
    bench_max(&r->w, verdicts, n, MPI_INT);
    r->n_now = 0;
    for (int k = 0; k < n; k++) {
        if (verdicts[k] == BENCH_WRONG)
            say_wrong(r, q, &r->now[k], when);
        if (verdicts[k] == BENCH_REFUSED)
            leave_out(r, q, &r->now[k]);
        else
            r->now[r->n_now++] = r->now[k];
    }
}

/* The implementations of this collective; what one refuses for one size, it is not asked again
 * for others. */
static void gather_series(struct run *r, struct bench_problem *q)
{
    r->n_now = 0;
    for (int k = 0; k < r->n_series; k++) {
        struct bench_series *s = &r->series[k];
        if ((s->only && s->only != q->coll) || s->never == q->coll)
            continue;
        r->now[r->n_now] = *s;
        r->now[r->n_now].verified = 1;
        r->now[r->n_now++].origin = s;
        MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    }
    check_all(r, q, "wrong result before the timing");
    for (int k = 0; k < r->n_now; k++)
        MPI_Comm_set_errhandler(r->now[k].comm, MPI_ERRORS_ARE_FATAL);
}

static void cell(struct run *r, const struct bench_coll *coll, size_t bytes)
{
    struct bench_problem q;
    char name[80];
    snprintf(name, sizeof name, "%s %zu bytes", coll->name, bytes);
    const double left = time_left(r);
    const int to_do = r->cells - r->cell++;
    if (left <= 0) {
        bench_print_note(&r->w, name, "skipped: the time budget is spent");
        return;
    }
    const char *why = bench_problem_open(&q, coll, bytes, &r->w, r->o.buffers);
    int failed = why != NULL;
    bench_max(&r->w, &failed, 1, MPI_INT);
    if (failed) {
        bench_print_note(&r->w, name, why ? why : "skipped: another rank is out of memory");
        bench_problem_close(&q);
        return;
    }
    const double start = bench_now();
    gather_series(r, &q);
    const double deadline = 2 * start + left / to_do - bench_now(); /* the last check takes as
                                                                       long as the first */
    r->line_us[0] = bench_exchange_us(&r->w);
    const struct bench_result res = bench_measure(&q, r->now, r->n_now, &r->w, &r->o, deadline);
    r->line_us[1] = bench_exchange_us(&r->w);
    check_all(r, &q, "wrong result after the timing");
    if (r->w.rank == 0)
        print_cell(r, &q, res);
    bench_problem_close(&q);
}

/* A communicator with its rules. What is wrong with them; NULL if nothing. */
static const char *open_one(struct bench_series *s, const char *spec, const struct bench_options *o)
{
    char name[MPI_MAX_OBJECT_NAME];
    s->us = calloc((size_t)o->samples, sizeof *s->us);
    s->comm = bench_topology_make(o->topology);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "bench %.50s", s->impl);
    MPI_Comm_set_name(s->comm, name);
    return CRESTA_Set_impl(s->comm, spec) == MPI_SUCCESS ? NULL : spec;
}

/* "IMPL", or "COLLECTIVE=IMPL". */
static const char *open_impl(struct bench_series *s, const char *word,
                             const struct bench_options *o)
{
    char spec[256], name[MPI_MAX_OBJECT_NAME];
    const char *sign = strpbrk(word, "=:?");
    const int length = sign != NULL && *sign == '=' ? (int)(sign - word) : 0;
    snprintf(name, sizeof name, "%.*s", length, word);
    s->impl = length ? sign + 1 : word;
    s->only = bench_coll_named(name);
    snprintf(spec, sizeof spec, "%s%s", length ? "" : o->topology ? "neighbor_*=" : "*=", word);
    return open_one(s, spec, o) == NULL ? NULL : word;
}

/* "NAME=SPEC", whose name gets a place of its own. */
static const char *open_rules(struct bench_series *s, const char *text,
                              const struct bench_options *o)
{
    const char *sign = strchr(text, '=');
    s->impl = s->name = strndup(text, (size_t)(sign - text));
    return open_one(s, sign + 1, o);
}

static const char *open_series(struct run *r)
{
    const char *bad = NULL;
    const int most = r->o.n_impls + r->o.n_rules;
    r->series = calloc((size_t)most, sizeof *r->series);
    r->now = calloc((size_t)most, sizeof *r->now);
    r->verdicts = calloc((size_t)most, sizeof *r->verdicts);
    for (int i = 0; i < r->o.n_impls && !bad; i++)
        bad = open_impl(&r->series[r->n_series++], r->o.impls[i], &r->o);
    for (int i = 0; i < r->o.n_rules && !bad; i++)
        bad = open_rules(&r->series[r->n_series++], r->o.rules[i], &r->o);
    return bad;
}

static void close_series(struct run *r)
{
    for (int k = 0; k < r->n_series; k++) {
        MPI_Comm_free(&r->series[k].comm);
        free(r->series[k].us);
        free(r->series[k].name);
    }
    free(r->series);
    free(r->now);
    free(r->verdicts);
}

/* A barrier has no data. */
static int is_barrier(const char *name)
{
    return strcmp(name, "barrier") == 0;
}

/* Sizes of a collective, times kinds of data. */
static int cells_of(const struct run *r, const char *name)
{
    return is_barrier(name) ? 1 : r->o.n_sizes * r->o.n_buffers;
}

static void collective(struct run *r, const char *name)
{
    for (int i = 0; i < cells_of(r, name); i++) {
        r->o.buffers = r->o.each_buffers[i % r->o.n_buffers];
        cell(r, bench_coll_named(name), is_barrier(name) ? 0 : r->o.sizes[i / r->o.n_buffers]);
    }
}

/* The name of a collective that is not to be measured, or NULL. */
static const char *unfit(const char *name, const char *topology)
{
    const struct bench_coll *coll = bench_coll_named(name);
    return coll != NULL && bench_is_near(coll) == (topology != NULL) ? NULL : name;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    setenv("CRESTA_FALLBACK", "error", 1); /* the same on all hosts: launchers need not pass it */
    MPI_Init(&argc, &argv);
    r.start = bench_now();
    bench_world_open(&r.w);
    const char *bad = bench_options_read(&r.o, argc, argv);
    bench_begin_ends_at_once(1);
    bench_exchange_open(&r.w);
    r.o.end = r.start + r.o.budget;
    for (int c = 0; !bad && c < r.o.n_collectives; c++)
        bad = unfit(r.o.collectives[c], r.o.topology);
    if (!bad)
        bad = bench_topology_open(&r.w, r.o.topology);
    if (!bad)
        bad = open_series(&r);
    if (bad) {
        if (r.w.rank == 0)
            fprintf(stderr, "crestacoll-bench: cannot use: %s\n", bad);
        bench_exchange_close(&r.w);
        MPI_Finalize();
        return 2;
    }
    if (r.w.rank == 0)
        bench_print_header(&r.o, &r.w, ", \"clock\": \"CLOCK_MONOTONIC\"");
    for (int c = 0; c < r.o.n_collectives; c++)
        r.cells += cells_of(&r, r.o.collectives[c]);
    for (int c = 0; c < r.o.n_collectives; c++)
        collective(&r, r.o.collectives[c]);
    if (r.w.rank == 0)
        printf("{\"type\": \"end\", \"ok\": %s, \"seconds\": %.3f}\n", r.wrong ? "false" : "true",
               bench_now() - r.start);
    close_series(&r);
    bench_topology_close(&r.w);
    bench_exchange_close(&r.w);
    bench_options_free(&r.o);
    bench_world_close(&r.w);
    MPI_Finalize();
    return r.wrong;
}
