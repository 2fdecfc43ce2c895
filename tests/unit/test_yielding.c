/* SPDX-License-Identifier: BSD-3-Clause */
/* test_yielding.c - whether waits yield, on a clock of this test's own.  A wait lasts for a time
 * that depends on whether the thread keeps its core or yields it. */
#include <sched.h>
#include <time.h>

#include "base/yielding.h"
#include "testing/testing.h"

enum { LOOK_US = 20, SECOND = 1000000 };

static long long now;     /* microseconds, */
static long long yielded; /* spent in yields, */
static int yield_us = 1;  /* of a yield */
static int waits;

int __wrap_sched_yield(void);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_sched_yield(void)
{
    now += yield_us;
    yielded += yield_us;
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){.tv_sec = now / SECOND, .tv_nsec = now % SECOND * 1000};
    return 0;
}

/* One wait of a thread that keeps its core for `kept` microseconds, or yields `yields` times. */
static void wait_once(int kept, int yields)
{
    const long long end = now + kept;
    cco_yielding_wait();
    waits++;
    for (int tries = 0; now < end && tries < yields;) {
        if (cco_yielding_try())
            tries++;
        else
            now += LOOK_US;
    }
}

/* Waits for `seconds`; the share of the time in yields, percent. */
static int share(int seconds, int kept, int yields)
{
    const long long start = now;
    yielded = waits = 0;
    while (now - start < (long long)seconds * SECOND)
        wait_once(kept, yields);
    return (int)(100 * yielded / (now - start));
}

int main(void)
{
    yield_us = 1;
    CHECK(share(1, 100, 1000) == 100, "alone, every look that finds nothing yields");

    yield_us = 4000; /* a wait that yields takes a slice, others 0.1 ms */
    const int costly = share(20, 100, 1);
    CHECK(costly <= 1, "yields that cost a slice for each wait take %d %% of the time", costly);
    CHECK(waits > 150000, "%d waits in 20 s", waits);

    /* Waits are longer than the time after which a trial may end. */
    share(5, 30000, 4);
    const int longer = share(20, 30000, 4);
    CHECK(longer >= 85, "yields that end waits of 30 ms in 16 take %d %% of the time", longer);

    yield_us = 600;     /* a wait ends with a yield, or else after 10 ms */
    share(5, 10000, 1); /* until it is noticed */
    const int helpful = share(20, 10000, 1);
    CHECK(helpful >= 85, "yields that bring waits to an end take %d %% of the time", helpful);

    yield_us = 4000;
    share(5, 100, 1);
    yield_us = 1;
    share(5, 100, 1000);
    CHECK(share(1, 100, 1000) == 100, "alone again");
    return testing_end("test_yielding");
}
