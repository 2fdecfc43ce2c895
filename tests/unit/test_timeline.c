/* SPDX-License-Identifier: BSD-3-Clause */
/* test_timeline.c - time bins: nothing is lost when they become longer, when a call lies in many,
 * and when ranks with other clocks are added up. Needs no running MPI. */
#include "profile/timeline.h"
#include "profile/timeline_merge.h"

#include <pthread.h>

#include "testing/testing.h"

enum { BIN = 1 << CCO_FIRST_SHIFT, START = 12345 };

static cco_timeline t;

static uint64_t total(int part)
{
    uint64_t sum = 0;
    for (int i = 0; i < CCO_BINS; i++)
        sum += t.bins[i][part];
    return sum;
}

static void one_bin(void)
{
    cco_timeline_begin(&t, START, false);
    cco_timeline_add(&t, CCO_BCAST, START + 10, START + 30);
    cco_timeline_add(&t, CCO_BCAST, START + 5ull * BIN, START + 5ull * BIN + 7);
    CHECK(t.bins[0][CCO_BCAST] == 20, "%llu ticks", (unsigned long long)t.bins[0][CCO_BCAST]);
    CHECK(t.bins[5][CCO_BCAST] == 7, "%llu ticks", (unsigned long long)t.bins[5][CCO_BCAST]);
    CHECK(total(CCO_BCAST) == 27 && total(CCO_BARRIER) == 0, "nothing elsewhere");
}

static void over_bins(void)
{
    cco_timeline_begin(&t, START, false);
    cco_timeline_add(&t, CCO_BARRIER, START + BIN - 3, START + 3ull * BIN + 4);
    CHECK(t.bins[0][CCO_BARRIER] == 3, "the end of the first");
    CHECK(t.bins[1][CCO_BARRIER] == BIN && t.bins[2][CCO_BARRIER] == BIN, "whole bins");
    CHECK(t.bins[3][CCO_BARRIER] == 4, "the begin of the last");
}

/* A run of any length: bins double, their sum stays, and what was where keeps its share. */
static void longer(void)
{
    uint64_t expected = 0;
    cco_timeline_begin(&t, START, false);
    for (uint64_t at = START; at - START < 5000ull * BIN; at += BIN) {
        cco_timeline_add(&t, CCO_BCAST, at, at + BIN / 4);
        expected += BIN / 4;
    }
    CHECK(t.shift == CCO_FIRST_SHIFT + 4, "shift %u", t.shift);
    CHECK(total(CCO_BCAST) == expected, "sum");
    CHECK(t.bins[0][CCO_BCAST] == 4ull * BIN && t.bins[300][CCO_BCAST] == 4ull * BIN, "even");
    CHECK(t.bins[CCO_BINS - 1][CCO_BCAST] == 0, "not reached yet");
    cco_timeline_add(&t, CCO_BCAST, START, START + (UINT64_MAX >> 4)); /* a call of years */
    CHECK(total(CCO_BCAST) == expected + (UINT64_MAX >> 4), "sum");
    CHECK(t.bins[CCO_BINS - 1][CCO_BCAST] > 0 && t.bins[CCO_BINS / 2][CCO_BCAST] > 0, "all along");
}

/* Counters of two cores need not agree: no loop without end, nothing outside. */
static void backwards(void)
{
    cco_timeline_begin(&t, START, false);
    cco_timeline_add(&t, CCO_BCAST, START + 20, START + 10);
    cco_timeline_add(&t, CCO_BCAST, START + BIN + 20, START + BIN - 10);
    cco_timeline_add(&t, CCO_BCAST, START - 10, START - 5);
    cco_timeline_add(&t, CCO_BCAST, START - 10, START + 5);
    cco_timeline_reach(&t, START - 1);
    CHECK(t.shift == CCO_FIRST_SHIFT, "shift %u", t.shift);
    cco_timeline_begin(&t, START, true);
    cco_timeline_add(&t, CCO_BCAST, START - 10, START + 5);
    CHECK(total(CCO_BCAST) == 5, "%llu ticks", (unsigned long long)total(CCO_BCAST));
}

static void *add_much(void *bin)
{
    for (int i = 0; i < 20000; i++) {
        const uint64_t at = START + (uint64_t)i * BIN / 4;
        cco_timeline_add(&t, *(int *)bin, at, at + BIN / 2);
    }
    return NULL;
}

/* Threads that make bins longer while others add to them. */
static void threads(void)
{
    enum { THREADS = 4 };
    pthread_t made[THREADS];
    static int parts[THREADS] = {CCO_BCAST, CCO_BCAST, CCO_BARRIER, CCO_BCAST};
    cco_timeline_begin(&t, START, true);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&made[i], NULL, add_much, &parts[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(made[i], NULL);
    CHECK(total(CCO_BCAST) == 3ull * 20000 * (BIN / 2), "ticks of three threads");
    CHECK(total(CCO_BARRIER) == 20000ull * (BIN / 2), "ticks of one");
}

static double sum_of(const double *bins)
{
    double sum = 0;
    for (int i = 0; i < CCO_BINS; i++)
        sum += bins[i];
    return sum;
}

static bool near(double a, double b)
{
    return a - b < 1e-6 * b && b - a < 1e-6 * b;
}

/* A rank whose bins are 0.7 of the common ones. */
static void another_clock(void)
{
    static cco_timeline_sum sum, other;
    cco_timeline_begin(&t, 0, false);
    for (int i = 0; i < 100; i++)
        cco_timeline_add(&t, i % 2 ? CCO_BCAST : CCO_BARRIER, (uint64_t)i * BIN,
                         (uint64_t)i * BIN + BIN / 2);
    cco_timeline_add(&t, CCO_BIN_SAMPLED, 0, 100);
    cco_timeline_add(&t, CCO_BIN_WAITED, 0, 40);
    cco_timeline_resample(&t, 1.0, BIN / 0.7, &sum);
    CHECK(near(sum_of(sum.row.busy), 50.0 * BIN), "%g ticks", sum_of(sum.row.busy));
    CHECK(near(sum_of(sum.of[CCO_BCAST]), 25.0 * BIN), "%g ticks", sum_of(sum.of[CCO_BCAST]));
    CHECK(near(sum.row.busy[30], 0.5 * BIN / 0.7), "%g in bin 30", sum.row.busy[30]);
    CHECK(sum.row.busy[70] == 0, "bin 70 is behind the last");
    cco_timeline_resample(&t, 1.0, BIN * 1.0001, &other); /* the same clock, as far as known */
    CHECK(other.row.busy[99] == BIN / 2 && other.row.busy[100] == 0, "no seepage");
    const double own = sum.row.busy[30];
    cco_timeline_absorb(&sum, &other);
    CHECK(sum.most[30] == (own > other.row.busy[30] ? own : other.row.busy[30]), "most");
    CHECK(sum.least[80] == 0 && sum.most[80] == BIN / 2, "of one rank");
    CHECK(near(sum_of(sum.row.sampled), 200) && near(sum_of(sum.row.waited), 80), "waits");
}

static void groups(void)
{
    static const int cases[][2] = {{1, 1}, {64, 1}, {65, 2}, {128, 2}, {129, 3}, {10000, 157}};
    for (int i = 0; i < LEN(cases); i++) {
        const int ranks = cases[i][0], each = cco_timeline_each(ranks, CCO_TIMELINE_ROWS);
        CHECK(each == cases[i][1], "%d ranks: %d in a row", ranks, each);
        CHECK(cco_timeline_each(ranks, each) <= CCO_TIMELINE_ROWS, "rows");
    }
}

/* The largest file: 64 rows, all bins and collectives in use. */
static void bounded(void)
{
    static cco_timeline_row rows[CCO_TIMELINE_ROWS];
    static cco_timeline_sum all;
    for (int i = 0; i < CCO_BINS; i++) {
        for (int k = 0; k < CCO_TIMELINE_ROWS; k++)
            rows[k].busy[i] = rows[k].sampled[i] = rows[k].waited[i] = 1.23456e7;
        for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
            all.of[coll][i] = 1.23456e7;
    }
    const cco_timelines timelines = {
        .bin_us = 1e7, .bins = CCO_BINS, .ranks = 10000, .each = 157, .all = &all, .rows = rows};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cco_timeline_put(file, &timelines);
    fclose(file);
    CHECK(size < 1 << 20, "%zu bytes", size);
    free(text);
}

int main(void)
{
    one_bin();
    over_bins();
    longer();
    backwards();
    threads();
    another_clock();
    groups();
    bounded();
    return testing_end("test_timeline");
}
