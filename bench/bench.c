/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c - crestacoll-bench: every implementation of a collective in one job, sample by sample,
 * and verified.
 *
 *   mpirun -n P crestacoll-bench --collectives A,B --impl mpi,nonblock --sizes 8,1024 [--samples
 * N] [--budget S]
 *          [--timing back_to_back|synchronised] [--root rotate|fixed] [--buffers hot|cold]
 * [--batch-us US] [--label L]
 *
 * Rank 0 prints JSON lines: one header, records, notes, and an end. Exit code 1: some result was
 * wrong; 2: usage. `mpi` must be the first implementation: ratios are to it. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crestacoll.h"

struct run {
    struct bench_options o;
    struct bench_world w;
    struct bench_series *series;
    int n;           /* implementations that could be set */
    int cell, cells; /* (collective, size) pairs: done, all */
    int wrong;
    double start;
};

void bench_json_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar((unsigned char)*s < ' ' ? ' ' : *s);
    }
    putchar('"');
}

static void print_header(const struct run *r)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MPI_Get_library_version(library, &len);
    library[strcspn(library, "\n")] = '\0';
    printf("{\"type\": \"header\", \"mpi\": ");
    bench_json_string(r->o.label);
    printf(", \"mpi_library\": ");
    bench_json_string(library);
    printf(", \"ranks\": %d, \"hosts\": %d, \"cores\": %d, \"oversubscribed\": %s, \"clock\": "
           "\"CLOCK_MONOTONIC\"}\n",
           r->w.size, r->w.hosts, r->w.cores, r->w.oversubscribed ? "true" : "false");
    fflush(stdout);
}

static void print_note(const struct run *r, const char *what, const char *why)
{
    if (r->w.rank != 0)
        return;
    printf("{\"type\": \"note\", \"about\": ");
    bench_json_string(what);
    printf(", \"text\": ");
    bench_json_string(why);
    printf("}\n");
    fflush(stdout);
}

static void print_record(const struct run *r, const struct bench_problem *q,
                         const struct bench_series *s, struct bench_result res, double mpi_median,
                         double *ratios)
{
    const int n = res.kept;
    printf("{\"type\": \"record\", \"collective\": \"%s\", \"implementation\": ", q->coll->name);
    bench_json_string(s->impl);
    printf(", \"mpi\": ");
    bench_json_string(r->o.label);
    printf(", \"ranks\": %d, \"bytes\": %zu, \"timing\": \"%s\", \"root\": \"%s\", \"buffers\": "
           "\"%s\"",
           q->size, q->bytes, r->o.timing == BENCH_SYNCHRONISED ? "synchronised" : "back_to_back",
           !q->coll->rooted ? "none"
           : r->o.rotate    ? "rotate"
                            : "fixed",
           r->o.cold ? "cold" : "hot");
    printf(", \"oversubscribed\": %s, \"verified\": %s, \"batch\": %d",
           r->w.oversubscribed ? "true" : "false", s->verified ? "true" : "false", s->batch);
    printf(", \"samples\": %d, \"samples_asked\": %d, \"samples_dropped\": %d", n, r->o.samples,
           res.taken - n);
    const double median = bench_quantile(s->us, n, 0.5);
    printf(", \"median_us\": %.6g, \"p10_us\": %.6g, \"p90_us\": %.6g, \"min_us\": %.6g", median,
           bench_quantile(s->us, n, 0.1), bench_quantile(s->us, n, 0.9),
           bench_quantile(s->us, n, 0));
    printf(", \"ratio_to_mpi\": %.6g, \"ratio_p10\": %.6g, \"ratio_p90\": %.6g}\n",
           mpi_median > 0 ? median / mpi_median : 0, bench_quantile(ratios, n, 0.1),
           bench_quantile(ratios, n, 0.9));
}

/* Rank 0. Ratios of samples taken in the same round share what disturbed that round; they must be
 * formed before any series is sorted. */
static void print_cell(const struct run *r, const struct bench_problem *q,
                       struct bench_result res)
{
    const int n = res.kept;
    double *ratios = calloc((size_t)(n * r->n + 1), sizeof *ratios);
    for (int k = 0; ratios && k < r->n; k++)
        for (int i = 0; i < n; i++)
            ratios[k * n + i] =
                r->series[0].us[i] > 0 ? r->series[k].us[i] / r->series[0].us[i] : 0;
    const double median = bench_quantile(r->series[0].us, n, 0.5);
    for (int k = 0; ratios && k < r->n; k++)
        print_record(r, q, &r->series[k], res, median, ratios + k * n);
    printf("{\"type\": \"progress\", \"done\": %d, \"of\": %d}\n", r->cell, r->cells);
    fflush(stdout);
    free(ratios);
}

/* Seconds left, as rank 0 sees it, so that all ranks skip the same cells. */
static double time_left(const struct run *r)
{
    double left = r->w.rank == 0 ? r->o.budget - (bench_now() - r->start) : -1e9;
    bench_max(&r->w, &left, 1, MPI_DOUBLE);
    return left;
}

static void check_all(struct run *r, struct bench_problem *q, const char *when)
{
    for (int k = 0; k < r->n; k++) {
        if (bench_problem_check(q, r->series[k].comm, &r->w))
            continue;
        r->series[k].verified = 0;
        r->wrong = 1;
        char what[160];
        snprintf(what, sizeof what, "%s %s %zu bytes", r->series[k].impl, q->coll->name,
                 q->bytes);
        print_note(r, what, when);
    }
}

static void cell(struct run *r, const struct bench_coll *coll, size_t bytes)
{
    struct bench_problem q;
    char name[80];
    snprintf(name, sizeof name, "%s %zu bytes", coll->name, bytes);
    const double left = time_left(r);
    const int to_do = r->cells - r->cell++;
    if (left <= 0) {
        print_note(r, name, "skipped: the time budget is spent");
        return;
    }
    const char *why = bench_problem_open(&q, coll, bytes, &r->w, r->o.cold);
    int failed = why != NULL;
    bench_max(&r->w, &failed, 1, MPI_INT);
    if (failed) {
        print_note(r, name, why ? why : "skipped: another rank is out of memory");
        bench_problem_close(&q);
        return;
    }
    const double deadline = bench_now() + left / to_do;
    for (int k = 0; k < r->n; k++)
        r->series[k].verified = 1, r->series[k].next = 0;
    check_all(r, &q, "wrong result before the timing");
    const struct bench_result res = bench_measure(&q, r->series, r->n, &r->w, &r->o, deadline);
    check_all(r, &q, "wrong result after the timing");
    if (r->w.rank == 0)
        print_cell(r, &q, res);
    bench_problem_close(&q);
}

/* A communicator for each implementation; one that crestacoll does not take is left out with a
 * note. */
static void open_series(struct run *r)
{
    r->series = calloc((size_t)r->o.n_impls, sizeof *r->series);
    for (int i = 0; i < r->o.n_impls; i++) {
        struct bench_series *s = &r->series[r->n];
        char spec[256], name[MPI_MAX_OBJECT_NAME];
        s->impl = r->o.impls[i];
        s->us = calloc((size_t)r->o.samples, sizeof *s->us);
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
        MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
        snprintf(name, sizeof name, "bench %.50s", s->impl);
        MPI_Comm_set_name(s->comm, name);
        snprintf(spec, sizeof spec, "*=%s", s->impl);
        const int error = CRESTA_Set_impl(s->comm, spec);
        if (error == MPI_SUCCESS) {
            MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_ARE_FATAL);
            r->n++;
            continue;
        }
        char why[MPI_MAX_ERROR_STRING];
        int len;
        MPI_Error_string(error, why, &len);
        print_note(r, s->impl, why);
        MPI_Comm_free(&s->comm);
        free(s->us);
    }
}

static void close_series(struct run *r)
{
    for (int k = 0; k < r->n; k++) {
        MPI_Comm_free(&r->series[k].comm);
        free(r->series[k].us);
    }
    free(r->series);
}

static int is_barrier(const char *name)
{
    return strcmp(name, "barrier") == 0;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    MPI_Init(&argc, &argv);
    r.start = bench_now();
    bench_world_open(&r.w);
    const char *bad = bench_options_read(&r.o, argc, argv);
    for (int c = 0; !bad && c < r.o.n_collectives; c++)
        if (!bench_coll_named(r.o.collectives[c]))
            bad = r.o.collectives[c];
    if (bad) {
        if (r.w.rank == 0)
            fprintf(stderr, "crestacoll-bench: cannot use: %s\n", bad);
        MPI_Finalize();
        return 2;
    }
    open_series(&r);
    if (r.w.rank == 0)
        print_header(&r);
    for (int c = 0; c < r.o.n_collectives; c++)
        r.cells += is_barrier(r.o.collectives[c]) ? 1 : r.o.n_sizes;
    for (int c = 0; r.n > 0 && c < r.o.n_collectives; c++)
        for (int i = 0; i < (is_barrier(r.o.collectives[c]) ? 1 : r.o.n_sizes); i++)
            cell(&r, bench_coll_named(r.o.collectives[c]),
                 is_barrier(r.o.collectives[c]) ? 0 : r.o.sizes[i]);
    if (r.w.rank == 0)
        printf("{\"type\": \"end\", \"ok\": %s, \"seconds\": %.3f}\n", r.wrong ? "false" : "true",
               bench_now() - r.start);
    close_series(&r);
    bench_options_free(&r.o);
    bench_world_close(&r.w);
    MPI_Finalize();
    return r.wrong;
}
