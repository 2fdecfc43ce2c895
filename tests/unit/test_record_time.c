/* SPDX-License-Identifier: BSD-3-Clause */
/* test_record_time.c - calls that follow each other closely: only some are timed, all of them
 * count, and the time is right within what is stated. */
#include <math.h>

#include "profile/profile_time.h"
#include "testing/testing.h"

enum { CALL = 300, BETWEEN = 20, CLOSE = 1000 };

typedef struct program {
    cco_profile_counter record;
    uint64_t now, number, timed;
    double truth; /* ticks in calls */
} program;

static program begin(void)
{
    program p = {.record.timed = UINT32_MAX, .now = 1};
    cco_profile_time_set_close(CLOSE);
    cco_profile_time_resume(p.now);
    return p;
}

/* As the library does: a hash chooses the calls. */
static void call(program *p, uint64_t took)
{
    const uint32_t hash = (uint32_t)p->number++ * 2654435769u;
    p->now += BETWEEN;
    p->truth += (double)took;
    if (cco_profile_times(&p->record, hash)) {
        cco_profile_time(&p->record, p->now, p->now + took);
        p->timed++;
    } else {
        p->record.calls++;
    }
    p->now += took;
}

static void check(const program *p, const char *what, double part)
{
    const double found = cco_profile_ticks(&p->record), error = cco_profile_ticks_error(&p->record);
    CHECK(p->record.calls == p->number, "%s: %llu of %llu calls", what,
          (unsigned long long)p->record.calls, (unsigned long long)p->number);
    CHECK(fabs(found - p->truth) <= error + part * p->truth, "%s: %g ticks, stated %g, up to %g",
          what, p->truth, found, error);
}

/* A loop of calls of two lengths. */
static void loop(void)
{
    program p = begin();
    for (int i = 0; i < 200000; i++)
        call(&p, CALL + (i % 7 == 0) * 200);
    check(&p, "loop", 0.01);
    CHECK(p.timed < CCO_CLOSE_CALLS + 200000 / CCO_TIMED_EVERY + 100, "%llu calls were timed",
          (unsigned long long)p.timed);
    CHECK(cco_profile_ticks_error(&p.record) < 0.01 * p.truth, "error %g of %g",
          cco_profile_ticks_error(&p.record), p.truth);
}

/* Where the program computes as long as a few calls take, each is timed. */
static void computes(void)
{
    program p = begin();
    for (int i = 0; i < 50000; i++) {
        call(&p, CALL);
        p.now += CLOSE;
    }
    check(&p, "computes", 0);
    CHECK(p.timed == p.number, "%llu calls were timed", (unsigned long long)p.timed);
}

/* Bursts of calls, and what is between them is no time of calls: little is not sure. */
static void bursts(int length)
{
    program p = begin();
    for (int i = 0; i < 600; i++) {
        for (int k = 0; k < length; k++)
            call(&p, CALL);
        p.now += (uint64_t)100 * CALL;
    }
    check(&p, "bursts", 0.002);
    CHECK(cco_profile_ticks_error(&p.record) < 0.08 * p.truth, "bursts of %d: error %g of %g",
          length, cco_profile_ticks_error(&p.record), p.truth);
}

/* Few calls are a thousand times longer: those that were not timed are within the error. */
static void long_calls(int every)
{
    program p = begin();
    for (int i = 0; i < 200000; i++)
        call(&p, i % every == every - 1 ? 1000 * CALL : CALL);
    check(&p, "long calls", 0.01);
    CHECK(cco_profile_ticks_error(&p.record) < 0.08 * p.truth, "error %g of %g",
          cco_profile_ticks_error(&p.record), p.truth);
}

/* While calls are not recorded, nothing passes in them. */
static void pauses(void)
{
    program p = begin();
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < 10000; i++)
            call(&p, CALL);
        p.now += UINT64_C(1) << 40;
        cco_profile_time_resume(p.now);
    }
    check(&p, "pauses", 0.01);
}

int main(void)
{
    loop();
    computes();
    bursts(100);
    bursts(1000);
    bursts(5000);
    long_calls(100);
    long_calls(10007);
    long_calls(60000);
    pauses();
    cco_profile_time_begin();
    return testing_end("test_record_time");
}
