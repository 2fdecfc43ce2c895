/* SPDX-License-Identifier: BSD-3-Clause */
/* harness.c - crestacoll-harness: ways to do the all-to-alls of a pseudo-spectral code, beside its
 * computation.
 *
 *   mpirun -n P crestacoll-harness --collectives alltoall --impl MPI,MIN,CrN --sizes 4096,65536
 *          [--procs RxC] [--work RATIO] [--async auto|thread|off] [--samples N] [--budget S]
 *          [--label L]
 *
 * Ranks are a grid; an iteration is an all-to-all in every row and then one in every column, each
 * with its computation. For one size after the other, one kind of memory after the other, all ALGs
 * (algs.c) in turn, some rounds of them, so that what disturbs the machine for a while disturbs
 * all: two warm-up iterations, then iterations that count.
 *
 * Rank 0 prints JSON lines: a header, records, notes, an end. Exit code 1: some result was wrong;
 * 2: usage. */
#define _POSIX_C_SOURCE 200809L
#include "psdns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"
#include "coarrays.h"

enum { ROUNDS = 3, QUARTER = 4 };
static const double share_of_work = 0.05; /* of a size's time, to find out how much there is */

struct run {
    struct psdns h;
    struct psdns_alg *algs, blocking;
    int wrong, cell;
};

static void print_header(const struct psdns *h)
{
    char grid[100];
    snprintf(grid, sizeof grid, ", \"rows\": %d, \"columns\": %d, \"rows_within_hosts\": %s",
             h->rows, h->columns, h->rows_within_hosts ? "true" : "false");
    bench_print_header(&h->o, &h->w, grid);
}

static void print_times(const char *what, const char *side, double *seconds, int n)
{
    printf(", \"t_%s_%s\": %.6g, \"t_%s_%s_p10\": %.6g, \"t_%s_%s_p90\": %.6g", what, side,
           bench_quantile(seconds, n, 0.5), what, side, bench_quantile(seconds, n, 0.1), what, side,
           bench_quantile(seconds, n, 0.9));
}

static void print_record(const struct psdns *h, const struct psdns_alg *a)
{
    static const char *const sides[PSDNS_SIDES] = {"row", "col"};
    printf("{\"type\": \"record\", ");
    json_field("alg", a->name, ", ");
    json_field("mpi", h->o.label, "");
    printf(", \"ranks\": %d, \"hosts\": %d, \"rows\": %d, \"columns\": %d, \"bytes\": %zu, "
           "\"work\": %g, \"async\": \"%s\", \"oversubscribed\": %s, \"verified\": %s, "
           "\"iters\": %d, \"warmups\": %d",
           h->w.size, h->w.hosts, h->rows, h->columns, h->bytes, h->o.work, h->o.async,
           h->w.oversubscribed ? "true" : "false", a->verdict == BENCH_RIGHT ? "true" : "false",
           a->iters, a->warmups);
    for (int k = 0; k < PSDNS_SIDES; k++) {
        print_times("total", sides[k], a->total[k], a->iters);
        print_times("comp", sides[k], a->comp[k], a->iters);
    }
    printf("}\n");
}

/* Takes out what cannot run here, or not in a quarter of a size's time, and remembers what is
 * wrong. MPI, to which others are compared, has all the time it needs. */
static void check(struct run *r, struct psdns_alg *a, int seed)
{
    char about[160], text[160];
    const double seconds = a->exchange == r->blocking.exchange
                               ? HUGE_VAL
                               : r->h.o.budget / r->h.o.n_sizes / QUARTER;
    for (int i = 0; i < PSDNS_SIDES && a->impl; i++)
        MPI_Comm_set_errhandler(a->comm[i], MPI_ERRORS_RETURN);
    a->verdict = psdns_check(&r->h, a, seed, seconds);
    for (int i = 0; i < PSDNS_SIDES && a->impl; i++)
        MPI_Comm_set_errhandler(a->comm[i], MPI_ERRORS_ARE_FATAL);
    snprintf(about, sizeof about, "%s alltoall", a->name);
    if (a->verdict == BENCH_REFUSED)
        bench_print_note(&r->h.w, about, "left out: it cannot do this here");
    if (a->verdict == BENCH_WRONG)
        bench_print_note(&r->h.w, about, "WRONG RESULT");
    snprintf(text, sizeof text, "left out: one all-to-all takes longer than %.1f seconds", seconds);
    if (a->verdict == PSDNS_TOO_SLOW)
        bench_print_note(&r->h.w, about, text);
    r->wrong |= a->verdict == BENCH_WRONG;
}

static int runs(const struct psdns *h, const struct psdns_alg *a, int store)
{
    return a->store == (enum psdns_store)store && h->side[PSDNS_ROW].send != NULL &&
           a->verdict <= BENCH_WRONG;
}

/* A round of an ALG, in its own seconds: one that is slow takes nothing from the others. */
static void one_round(struct psdns *h, struct psdns_alg *a, int rounds_left)
{
    const int to_go = h->o.samples - a->iters;
    const double start = bench_now();
    psdns_round(h, a, (to_go + rounds_left - 1) / rounds_left,
                start + a->seconds_left / rounds_left);
    a->seconds_left -= bench_now() - start;
}

/* All ALGs with one kind of memory. */
static void loop(struct run *r, int store)
{
    for (int k = 0; k < r->h.o.n_impls; k++) {
        const double start = bench_now();
        if (runs(&r->h, &r->algs[k], store))
            check(r, &r->algs[k], 10 * r->cell + k);
        r->algs[k].seconds_left -= bench_now() - start;
    }
    for (int left = ROUNDS; left > 0; left--)
        for (int k = 0; k < r->h.o.n_impls; k++)
            if (runs(&r->h, &r->algs[k], store))
                one_round(&r->h, &r->algs[k], left);
}

/* The ALGs that `store` is for; those of coarrays are left out here if there are none. */
static int count(struct run *r, int store, const char *why)
{
    int n = 0;
    for (int k = 0; k < r->h.o.n_impls; k++) {
        struct psdns_alg *a = &r->algs[k];
        const int caf = store == PSDNS_ARRAYS && a->impl && !strncmp(a->impl, "caf", 3);
        const char *reason = caf && r->h.caf ? r->h.caf : why;
        char about[160], text[256];
        if (a->store != (enum psdns_store)store)
            continue;
        n++;
        if (reason) {
            snprintf(about, sizeof about, "%s alltoall", a->name);
            snprintf(text, sizeof text, "left out: %s", reason);
            bench_print_note(&r->h.w, about, text);
            a->verdict = BENCH_REFUSED;
        }
    }
    return n;
}

static void print_store(const struct run *r, int store)
{
    for (int k = 0; k < r->h.o.n_impls && r->h.w.rank == 0; k++)
        if (r->algs[k].store == (enum psdns_store)store && r->algs[k].iters > 0)
            print_record(&r->h, &r->algs[k]);
}

static void size(struct run *r, size_t bytes)
{
    struct psdns *h = &r->h;
    const double left = h->o.end - bench_now();
    const double seconds = left > 0 ? left / (h->o.n_sizes - r->cell) : 0;
    h->bytes = bytes;
    for (int k = 0; k < h->o.n_impls; k++) {
        r->algs[k].verdict = r->algs[k].iters = 0;
        r->algs[k].seconds_left = (1 - share_of_work) * seconds / h->o.n_impls;
    }
    for (int store = 0; store < PSDNS_STORES; store++) {
        if (count(r, store, NULL) == 0 && store != PSDNS_ARRAYS)
            continue;
        const char *why = psdns_store_open(h, (enum psdns_store)store);
        if (store == PSDNS_ARRAYS && !why)
            psdns_choose_work(h, &r->blocking, share_of_work * seconds);
        if (why)
            count(r, store, why);
        else
            loop(r, store);
        psdns_store_close(h, (enum psdns_store)store);
        print_store(r, store);
    }
    r->cell++;
    if (h->w.rank == 0)
        printf("{\"type\": \"progress\", \"done\": %d, \"of\": %d}\n", r->cell, h->o.n_sizes);
    fflush(stdout);
}

static int run(struct run *r)
{
    struct psdns *h = &r->h;
    const double start = bench_now();
    h->o.end = start + h->o.budget;
    h->units_per_us = psdns_rate(h);
    if (h->w.rank == 0)
        print_header(h);
    for (int i = 0; i < h->o.n_sizes; i++)
        size(r, h->o.sizes[i]);
    if (h->w.rank == 0)
        printf("{\"type\": \"end\", \"ok\": %s, \"seconds\": %.3f}\n", r->wrong ? "false" : "true",
               bench_now() - start);
    return r->wrong;
}

/* NULL, or what cannot be used. Coarrays begin before any communicator asks for them. */
static const char *open_algs(struct run *r)
{
    struct psdns *h = &r->h;
    const char *bad = NULL;
    int coarrays = 0;
    for (int k = 0; k < h->o.n_impls; k++)
        coarrays |= h->o.impls[k][0] == 'C' || strstr(h->o.impls[k], "caf") != NULL;
    if (coarrays)
        h->caf = psdns_coarrays_begin();
    r->algs = calloc((size_t)h->o.n_impls, sizeof *r->algs);
    psdns_alg_open(h, &r->blocking, "MPI");
    for (int k = 0; k < h->o.n_impls && !bad; k++)
        bad = psdns_alg_open(h, &r->algs[k], h->o.impls[k]);
    return bad;
}

int main(int argc, char **argv)
{
    static struct run r;
    const char *bad = bench_options_read(&r.h.o, argc, argv);
    /* Equal on all hosts: launchers need not pass them. */
    setenv("CRESTA_ASYNC", r.h.o.async, 1);
    setenv("CRESTA_FALLBACK", "error", 1);
    MPI_Init(&argc, &argv);
    bench_world_open(&r.h.w);
    if (!bad)
        bad = psdns_grid_open(&r.h);
    if (!bad)
        bad = open_algs(&r);
    if (bad && r.h.w.rank == 0)
        fprintf(stderr, "crestacoll-harness: cannot use: %s\n", bad);
    const int code = bad ? 2 : run(&r);
    for (int k = 0; k < r.h.o.n_impls && !bad; k++)
        psdns_alg_close(&r.algs[k]);
    if (!bad) {
        psdns_alg_close(&r.blocking);
        psdns_grid_close(&r.h);
    }
    free(r.algs);
    bench_options_free(&r.h.o);
    bench_world_close(&r.h.w);
    MPI_Finalize();
    return code;
}
