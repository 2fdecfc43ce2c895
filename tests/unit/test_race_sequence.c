/* SPDX-License-Identifier: BSD-3-Clause */
/* test_race_sequence.c - periods of sequences of calls. */
#include "race/sequence.h"
#include "testing/testing.h"

static int least(uint64_t periods)
{
    return periods != 0 ? __builtin_ctzll(periods) + 1 : 0;
}

/* The period that is found in `calls` calls which repeat after `period`, where one call in `every`
 * (0: none) is another, and the first `odd` calls are. */
static int found(int period, int calls, int every, int odd)
{
    cco_sequence s = {.count = 0};
    for (int i = 0; i < calls; i++) {
        const bool other = i < odd || (every > 0 && i % every == every - 1);
        cco_sequence_add(&s, other ? 1000u + (unsigned)i : (unsigned)(i % period));
    }
    return least(cco_sequence_periods(&s));
}

int main(void)
{
    for (int p = 1; p <= CCO_SEQUENCE_LONGEST; p++) {
        CHECK(found(p, 4 * p + 3, 0, 0) == p, "%d calls of period %d", 4 * p + 3, p);
        CHECK(found(p, 4 * p - 1, 0, 0) == 0, "%d calls of period %d: too few", 4 * p - 1, p);
        CHECK(found(p, 3000, 0, 0) == p, "3000 calls of period %d", p);
        CHECK(found(p, 3000, 50, 700) == p, "period %d with other calls", p);
    }
    CHECK(found(100, 3000, 0, 0) == 0, "a period that is too long");
    CHECK(found(1, 3000, 2, 0) == 0, "every other call is another");
    cco_sequence s = {.count = 0};
    unsigned due = 0;
    for (int i = 1; i <= 100; i++) {
        cco_sequence_add(&s, 1);
        due += cco_sequence_is_due(&s) ? (unsigned)i : 0;
    }
    CHECK(due == 16 + 24 + 32 + 48 + 64 + 96, "due after calls that add up to %u", due);
    return testing_end("race_sequence");
}
