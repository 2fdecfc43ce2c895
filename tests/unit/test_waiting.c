/* SPDX-License-Identifier: BSD-3-Clause */
/* test_waiting.c - calls that are kept, clocks that differ, and what samples say of all calls. */
#include <math.h>
#include <stdlib.h>

#include "profile/arrivals.h"
#include "profile/common_clock.h"
#include "profile/waiting.h"
#include "testing/testing.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

/* Waiting is never more than the call, nor less than nothing. */
static void bounds(void)
{
    cco_wait_sums sums = {0};
    cco_wait_sums_add(&sums, -3, 10, 0);
    cco_wait_sums_add(&sums, 4, 10, 0.5);
    cco_wait_sums_add(&sums, 25, 10, 0.25);
    CHECK(sums.count == 3 && near(sums.waited, 14) && near(sums.time, 30), "%g of %g us",
          sums.waited, sums.time);
    CHECK(near(sums.clock, 0.5), "the largest error of a clock: %g", sums.clock);
}

/* Where all calls were sampled, nothing is estimated. */
static void all_sampled(void)
{
    cco_wait_sums sums = {0};
    cco_wait_sums_add(&sums, 1, 4, 0);
    cco_waiting w = cco_waiting_of(&sums, 1, 4);
    CHECK(w.samples == 1 && near(w.us, 1) && w.spread == 0, "one call: %g +- %g", w.us, w.spread);
    cco_wait_sums_add(&sums, 3, 4, 0);
    w = cco_waiting_of(&sums, 2, 8);
    CHECK(w.samples == 2 && near(w.us, 4) && near(w.spread, 0), "two: %g +- %g", w.us, w.spread);
}

static void too_few(void)
{
    cco_wait_sums sums = {0};
    CHECK(cco_waiting_of(&sums, 0, 0).samples == 0, "no call");
    for (int i = 0; i < CCO_SAMPLES_FEW - 1; i++)
        cco_wait_sums_add(&sums, 1, 2, 0);
    CHECK(cco_waiting_of(&sums, 100, 200).samples == 0, "too few of 100");
    cco_wait_sums_add(&sums, 1, 2, 0);
    CHECK(cco_waiting_of(&sums, 100, 200).samples == CCO_SAMPLES_FEW, "enough");
}

/* The share of the samples counts: one long call that was not sampled waits like the others. */
static void shares(void)
{
    cco_wait_sums sums = {0};
    for (int i = 0; i < 50; i++)
        cco_wait_sums_add(&sums, 1, 4, 0);
    cco_waiting w = cco_waiting_of(&sums, 100, 4000);
    CHECK(near(w.us, 1000) && near(w.spread, 0), "%g +- %g of 4000 us", w.us, w.spread);
}

/* 95 of 100 intervals hold what is true of all calls; at least 90 here. */
static void interval(void)
{
    int held = 0;
    srand(7);
    for (int trial = 0; trial < 400; trial++) {
        cco_wait_sums sums = {0};
        double waited = 0, time = 0;
        for (int i = 0; i < 1000; i++) {
            const double late = 100.0 * rand() / RAND_MAX, own = 1 + 9.0 * rand() / RAND_MAX;
            waited += late;
            time += late + own;
            if (i % 20 == 0)
                cco_wait_sums_add(&sums, late, late + own, 0);
        }
        const cco_waiting w = cco_waiting_of(&sums, 1000, time);
        held += fabs(w.us - waited) <= w.spread;
        CHECK(w.us <= time && w.spread < time, "%g +- %g of %g us", w.us, w.spread, time);
    }
    CHECK(held >= 360, "%d of 400 intervals", held);
}

static void absorb(void)
{
    cco_waiting sum = {.samples = 9, .us = 10, .most = 10, .spread = 1, .time = 20, .clock = 0.1};
    const cco_waiting other = {.samples = 8, .us = 30, .most = 30, .spread = 2, .time = 40};
    cco_waiting_absorb(&sum, &other);
    CHECK(sum.samples == 9 && near(sum.us, 40) && near(sum.most, 30) && near(sum.spread, 3) &&
              near(sum.time, 60) && near(sum.clock, 0.1),
          "%g us, %g at most", sum.us, sum.most);
}

/* Two ranks that ran out of room at different times have kept calls in common, spread evenly. */
static void thinned(void)
{
    enum { CALLS = 100000 };
    cco_arrival_set early = {.id = 5, .below = UINT32_MAX}, late = early;
    static char seen[CALLS];
    int common = 0, first_half = 0;
    for (uint64_t call = 0; call < CALLS; call++) {
        const cco_arrival arrival = {.call = call};
        if (call == 777)
            cco_arrivals_thin(&early, 100);
        if (cco_arrivals_want(&early, call))
            cco_arrivals_add(&early, &arrival);
        if (cco_arrivals_want(&late, call))
            cco_arrivals_add(&late, &arrival);
    }
    CHECK(early.count <= CCO_ARRIVALS && late.count <= CCO_ARRIVALS, "%d and %d", early.count,
          late.count);
    for (int i = 0; i < early.count; i++)
        seen[early.list[i].call] = 1;
    for (int i = 0; i < late.count; i++) {
        common += seen[late.list[i].call];
        first_half += seen[late.list[i].call] && late.list[i].call < CALLS / 2;
    }
    CHECK(common >= CCO_ARRIVALS / 4, "%d calls in common", common);
    CHECK(abs(2 * first_half - common) <= 4, "%d of %d in the first half", first_half, common);
    free(early.list);
    free(late.list);
}

/* Keeps those of `calls` calls that it wants, all of which took so many ticks. */
static void make(cco_arrival_set *set, uint64_t calls, uint64_t ticks)
{
    for (uint64_t call = 0; call < calls; call++) {
        const cco_arrival arrival = {.call = call, .ticks = ticks};
        if (cco_arrivals_want(set, call))
            cco_arrivals_add(set, &arrival);
    }
}

/* To note calls takes a small part of their time: of many short calls few are kept. */
static void afforded(void)
{
    cco_arrival_set some = {.id = 5, .below = UINT32_MAX}, all = some, few = some;
    make(&some, CCO_ARRIVALS_FREE, 100);
    CHECK(some.count == CCO_ARRIVALS_FREE, "%d of the first calls", some.count);
    const uint32_t none = cco_arrivals_afforded(&some, 0);
    const uint32_t sixteenth = cco_arrivals_afforded(&some, 10);
    CHECK(none == UINT32_MAX, "a note that takes no time: %u", none);
    CHECK(sixteenth == UINT32_MAX / 16, "a note of 10 ticks, calls of 100: one in 16, not %g",
          UINT32_MAX / (double)sixteenth);
    cco_arrivals_begin(1);
    make(&all, 3000, 1000000000);
    make(&few, 3000, 1);
    CHECK(all.count == 3000, "%d of 3000 long calls", all.count);
    CHECK(few.count < 1000, "%d of 3000 short calls", few.count);
    cco_arrivals_begin(0);
    free(some.list);
    free(all.list);
    free(few.list);
}

/* Clocks 30 ms apart that drift by 20 ppm, compared twice; and one behind another. */
static void clocks(void)
{
    const int64_t day = 86400000000000, second = 1000000000;
    const cco_clock_pair first = {day, day - 30000000, 500};
    const cco_clock_pair last = {day + 100 * second, day - 30000000 + 100 * second - 2000000, 900};
    const cco_clock_line line = cco_clock_through(&first, &last);
    CHECK(near(line.drift, -20e-6), "drift %g", line.drift);
    CHECK(line.error >= 900 && line.error < 4000, "error %g", line.error);
    CHECK(cco_clock_on(&line, last.mine) == last.theirs, "at the end");
    const int64_t middle = day - 30000000 + 50 * second - 1000000;
    CHECK(llabs(cco_clock_on(&line, day + 50 * second) - middle) <= 1, "in the middle");
    const cco_clock_line twice = cco_clock_after(&line, &line);
    const int64_t at = day + 70 * second, way = cco_clock_on(&line, cco_clock_on(&line, at));
    CHECK(llabs(cco_clock_on(&twice, at) - way) <= 2, "one line after another");
    CHECK(near(twice.error, (2 - 20e-6) * line.error), "errors add up");
}

/* From 0 to `below`. */
static int64_t any(int64_t below)
{
    return (int64_t)((double)below * rand() / ((double)RAND_MAX + 1));
}

typedef struct steady {
    int64_t at_0;
    double rate;
} steady;

static int64_t shows(const steady *clock, int64_t moment)
{
    return clock->at_0 + (int64_t)(clock->rate * (double)moment);
}

/* Asks what another clock shows: the question and the answer take as long as they like. */
static cco_clock_pair asked(const steady *mine, const steady *theirs, int64_t moment)
{
    const int64_t there = any(2) ? any(1000000) : 0, back = any(2) ? any(1000000) : 0;
    const int64_t sent = shows(mine, moment), received = shows(mine, moment + there + back);
    const int64_t error = (received - sent + 1) / 2;
    return (cco_clock_pair){sent + error, shows(theirs, moment + there), error};
}

static cco_clock_line compared(const steady *mine, const steady *theirs, int64_t begin, int64_t end)
{
    const cco_clock_pair first = asked(mine, theirs, begin), last = asked(mine, theirs, end);
    return cco_clock_through(&first, &last);
}

/* However long messages took, what is true lies within the stated errors: of a moment between both
 * comparisons, of how far a clock is ahead then, and of its rate. */
static void holds(const cco_clock_line *line, const steady *mine, const steady *theirs, int64_t at)
{
    const int64_t here = shows(mine, at), there = shows(theirs, at);
    const cco_clock_ahead ahead = cco_clock_ahead_at(line, there);
    const double faster = mine->rate / theirs->rate - 1;
    CHECK(fabs((double)(cco_clock_on(line, here) - there)) <= line->error, "%lld ns, not +- %g",
          (long long)(cco_clock_on(line, here) - there), line->error);
    CHECK(fabs(ahead.by - (double)(here - there)) <= ahead.error, "ahead by %g +- %g, not %lld",
          ahead.by, ahead.error, (long long)(here - there));
    CHECK(fabs(ahead.faster - faster) <= ahead.faster_error, "faster by %g +- %g, not %g",
          ahead.faster, ahead.faster_error, faster);
}

static void stated_errors_hold(void)
{
    srand(11);
    for (int trial = 0; trial < 20000; trial++) {
        steady clocks[3];
        for (int i = 0; i < 3; i++)
            clocks[i] = (steady){any(60000000000), 1 + 1e-9 * (double)any(4000000) - 2e-3};
        const int64_t end = 5000000 + any(1000000000), at = 4000000 + any(end - 4000000);
        const cco_clock_line line = compared(&clocks[0], &clocks[1], 0, end);
        const cco_clock_line then = compared(&clocks[1], &clocks[2], 2000000, end + 2000000);
        const cco_clock_line both = cco_clock_after(&line, &then);
        holds(&line, &clocks[0], &clocks[1], at);
        holds(&both, &clocks[0], &clocks[2], at);
    }
}

int main(void)
{
    bounds();
    all_sampled();
    too_few();
    shares();
    interval();
    absorb();
    thinned();
    afforded();
    clocks();
    stated_errors_hold();
    return testing_end("test_waiting");
}
