/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.c - crestacoll-overlap: how much of a collective happens while the program computes.
 *
 *   mpirun -n P crestacoll-overlap --collectives A --impl nonblock,p2p --sizes 8,1048576
 *          [--work RATIO] [--async auto|thread|off] [--samples N] [--budget S] [--label L]
 *
 * For every implementation in one job, one sample of each in turn:
 *   N  begin and end at once
 *   C  computation alone, with nothing in flight; as long as RATIO times N
 *   T  begin, the same computation, end
 * each for the slowest rank, in microseconds. Rank 0 prints JSON lines: a header, records, notes,
 * an end. Exit code 1: some result was wrong; 2: usage. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crestacoll.h"
#include "json.h"
#include "sockets.h"
#include "work.h"

enum { TRIALS = 7, MAX_BATCH = 1000, FEWEST = 5, TIMES = 3 };
enum { N, C, T }; /* of TIMES */

struct series {
    const char *impl;
    MPI_Comm comm;
    int batch, usable;
    int sockets;       /* it is that of sockets.h, which stands beside the implementations, */
    int lacks;         /* and is not there */
    double units;      /* of computation in a call */
    double *us[TIMES]; /* samples */
};

struct run {
    struct bench_options o;
    struct bench_world w;
    struct series *series;
    double units_per_us;
    int wrong, cell, cells;
};

static void begin(const struct bench_problem *q, const struct series *s)
{
    bench_call(s->sockets ? &bench_sockets_begin : &bench_begins, q, s->comm, 0, 0);
}

static int end(const struct series *s)
{
    return s->sockets ? bench_sockets_end() : bench_end();
}

/* One sample on this rank, in microseconds a call. */
static double sample(const struct run *r, const struct bench_problem *q, const struct series *s,
                     int which)
{
    bench_barrier(&r->w);
    const double start = bench_now();
    for (int i = 0; i < s->batch; i++) {
        if (which != C)
            begin(q, s);
        if (which != N)
            bench_compute(s->units);
        if (which != C)
            end(s);
    }
    return 1e6 * (bench_now() - start) / s->batch;
}

/* How many calls make a sample, and how long the computation is: the same on all ranks. */
static void prepare(const struct run *r, const struct bench_problem *q, struct series *s)
{
    double us[TRIALS];
    s->batch = 1;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < TRIALS; i++)
            us[i] = sample(r, q, s, N);
        double median = bench_quantile(us, TRIALS, 0.5);
        bench_max(&r->w, &median, 1, MPI_DOUBLE);
        const double batch = 4 * r->o.batch_us / (median > 0.01 ? median : 0.01);
        s->units = r->o.work * median * r->units_per_us;
        s->batch = batch < 1 ? 1 : batch > MAX_BATCH ? MAX_BATCH : (int)batch;
    }
    bench_max(&r->w, &s->batch, 1, MPI_INT);
}

/* Does a begin and its end give what the MPI itself gives? Refused: another implementation would
 * have to run. */
static int check(const struct run *r, struct bench_problem *q, const struct series *s)
{
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    bench_begin_ends_at_once(1);
    bench_problem_expect(q, &r->w, 0, 1);
    const struct bench_calls *whole = s->sockets ? &bench_sockets_whole : &bench_begins;
    int verdict = (int)bench_problem_check(q, whole, s->comm, 0, 1);
    bench_begin_ends_at_once(0);
    bench_max(&r->w, &verdict, 1, MPI_INT);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
    return verdict;
}

static double at_most_one(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void print_overlap(double n, double c, double t)
{
    const double hidden = c + n - t, less = c < n ? c : n, more = c < n ? n : c;
    printf(", \"overlap_cresta\": %.4f, \"overlap_osu\": %.4f, \"overlap_imb\": %.4f",
           at_most_one(hidden / less), at_most_one(hidden / n), at_most_one(hidden / more));
}

static void print_record(const struct run *r, const struct bench_problem *q, const struct series *s,
                         int taken)
{
    static const char *const names[TIMES] = {"N", "C", "T"};
    double median[TIMES];
    printf("{\"type\": \"record\", \"collective\": \"%s\", ", q->coll->name);
    json_field("implementation", s->impl, ", ");
    json_field("mpi", r->o.label, "");
    printf(", \"ranks\": %d, \"hosts\": %d, \"bytes\": %zu, \"work\": %g, \"samples\": %d, "
           "\"batch\": %d, \"async\": \"%s\", \"verified\": %s",
           q->size, r->w.hosts, q->bytes, r->o.work, taken, s->batch, r->o.async,
           s->usable == BENCH_RIGHT ? "true" : "false");
    for (int k = 0; k < TIMES; k++) {
        median[k] = bench_quantile(s->us[k], taken, 0.5);
        printf(", \"%s_us\": %.6g, \"%s_p10_us\": %.6g, \"%s_p90_us\": %.6g", names[k], median[k],
               names[k], bench_quantile(s->us[k], taken, 0.1), names[k],
               bench_quantile(s->us[k], taken, 0.9));
    }
    print_overlap(median[N], median[C], median[T]);
    printf("}\n");
}

/* Samples of all series in turn until there are enough or the time is up, as rank 0 sees it. */
static int measure(const struct run *r, const struct bench_problem *q, double deadline)
{
    int taken = 0, late = 0;
    while (taken < r->o.samples && !(late && taken >= FEWEST)) {
        for (int k = 0; k < r->o.n_impls; k++)
            for (int which = 0; which < TIMES && r->series[k].usable != BENCH_REFUSED; which++)
                r->series[k].us[which][taken] = sample(r, q, &r->series[k], which);
        taken++;
        late = r->w.rank == 0 && bench_now() > deadline;
        bench_max(&r->w, &late, 1, MPI_INT);
    }
    for (int k = 0; k < r->o.n_impls; k++)
        for (int which = 0; which < TIMES; which++)
            bench_max(&r->w, r->series[k].us[which], taken, MPI_DOUBLE);
    return taken;
}

static void cell(struct run *r, const struct bench_coll *coll, size_t bytes)
{
    struct bench_problem q;
    char about[160];
    snprintf(about, sizeof about, "%s %zu bytes", coll->name, bytes);
    const double deadline = bench_now() + (r->o.end - bench_now()) / (r->cells - r->cell++);
    int failed = bench_problem_open(&q, coll, bytes, &r->w, 0) != NULL;
    bench_max(&r->w, &failed, 1, MPI_INT);
    for (int k = 0; k < r->o.n_impls && !failed; k++) {
        struct series *s = &r->series[k];
        const int can = !s->sockets || (!s->lacks && strcmp(coll->name, "alltoall") == 0);
        s->usable = can ? check(r, &q, s) : BENCH_REFUSED;
        snprintf(about, sizeof about, "%s %s %zu bytes", s->impl, coll->name, bytes);
        r->wrong |= s->usable == BENCH_WRONG;
        if (s->usable == BENCH_REFUSED)
            bench_print_note(&r->w, about, "left out: it cannot do this here");
        else
            prepare(r, &q, s);
    }
    if (failed)
        bench_print_note(&r->w, about, "skipped: not enough memory");
    const int taken = failed ? 0 : measure(r, &q, deadline);
    for (int k = 0; k < r->o.n_impls && taken > 0 && r->w.rank == 0; k++)
        if (r->series[k].usable != BENCH_REFUSED)
            print_record(r, &q, &r->series[k], taken);
    if (r->w.rank == 0)
        printf("{\"type\": \"progress\", \"done\": %d, \"of\": %d}\n", r->cell, r->cells);
    fflush(stdout);
    bench_problem_close(&q);
}

static void open_sockets(const struct run *r, struct series *s)
{
    const char *why = bench_sockets_open(&r->w);
    s->sockets = 1;
    s->lacks = why != NULL;
    if (why != NULL)
        bench_print_note(&r->w, "sockets", why);
}

/* NULL, or the implementation that the library does not take. */
static const char *choose(struct series *s)
{
    char spec[256];
    snprintf(spec, sizeof spec, "*=%s", s->impl);
    return CRESTA_Set_impl(s->comm, spec) == MPI_SUCCESS ? NULL : s->impl;
}

static const char *open_series(struct run *r)
{
    const char *bad = NULL;
    r->series = calloc((size_t)r->o.n_impls, sizeof *r->series);
    for (int i = 0; i < r->o.n_impls && !bad; i++) {
        struct series *s = &r->series[i];
        *s = (struct series){.impl = r->o.impls[i], .batch = 1};
        for (int k = 0; k < TIMES; k++)
            s->us[k] = calloc((size_t)r->o.samples, sizeof *s->us[k]);
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
        MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
        if (strcmp(s->impl, "sockets") == 0)
            open_sockets(r, s);
        else
            bad = choose(s);
    }
    return bad;
}

static void close_series(struct run *r)
{
    for (int i = 0; i < r->o.n_impls; i++) {
        MPI_Comm_free(&r->series[i].comm);
        if (r->series[i].sockets)
            bench_sockets_close();
        for (int k = 0; k < TIMES; k++)
            free(r->series[i].us[k]);
    }
    free(r->series);
}

static int run(struct run *r)
{
    const double start = bench_now();
    r->units_per_us = bench_compute_rate();
    bench_max(&r->w, &r->units_per_us, 1, MPI_DOUBLE);
    r->o.end = start + r->o.budget;
    if (r->w.rank == 0)
        bench_print_header(&r->o, &r->w, "");
    r->cells = r->o.n_collectives * r->o.n_sizes;
    for (int c = 0; c < r->o.n_collectives; c++)
        for (int i = 0; i < r->o.n_sizes; i++)
            cell(r, bench_coll_named(r->o.collectives[c]), r->o.sizes[i]);
    if (r->w.rank == 0)
        printf("{\"type\": \"end\", \"ok\": %s, \"seconds\": %.3f}\n", r->wrong ? "false" : "true",
               bench_now() - start);
    return r->wrong;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    const char *bad = bench_options_read(&r.o, argc, argv);
    setenv("CRESTA_ASYNC", r.o.async, 1); /* the same on all hosts: launchers need not pass it */
    setenv("CRESTA_FALLBACK", "error", 1);
    MPI_Init(&argc, &argv);
    bench_world_open(&r.w);
    for (int c = 0; !bad && c < r.o.n_collectives; c++)
        if (!bench_coll_named(r.o.collectives[c]))
            bad = r.o.collectives[c];
    if (!bad)
        bad = open_series(&r);
    if (bad && r.w.rank == 0)
        fprintf(stderr, "crestacoll-overlap: cannot use: %s\n", bad);
    const int code = bad ? 2 : run(&r);
    if (!bad)
        close_series(&r);
    bench_options_free(&r.o);
    bench_world_close(&r.w);
    MPI_Finalize();
    return code;
}
