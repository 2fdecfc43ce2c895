/* SPDX-License-Identifier: BSD-3-Clause */
/* test_round_time.c - what is expected of a round comes near to what it takes, and follows it. */
#include "progress/round_time.h"
#include "testing/testing.h"

enum { CALLS = 60, STEP = 1000, AFTER = 50 };

/* One round of `length`, looked at every STEP, when it is due, and every AFTER from then on. */
static void go_through(long *takes, long length)
{
    long looked = 0, now = 0;
    while (now < length) {
        looked = now;
        const bool is_due = *takes > 0 && now >= *takes;
        now += is_due ? AFTER : STEP;
        if (*takes > 0 && looked < *takes && now > *takes)
            now = *takes;
    }
    cco_round_time_learn(takes, looked, now);
}

static void learns(long *takes, long length)
{
    for (int i = 0; i < CALLS; i++)
        go_through(takes, length);
    CHECK(*takes > length * 9 / 10 && *takes < length * 11 / 10, "%ld expected of %ld", *takes,
          length);
}

int main(void)
{
    long takes = 0;
    go_through(&takes, 5300);
    CHECK(takes == 6000, "%ld after the first, which a look at 6000 found", takes);
    learns(&takes, 5300);
    learns(&takes, 9100);
    learns(&takes, 2500);
    CHECK(!cco_round_time_begins(0, 0), "what nobody knows begins");
    CHECK(cco_round_time_begins(8000, 900) && !cco_round_time_begins(8000, 1100), "an eighth");
    return testing_end("round_time");
}
