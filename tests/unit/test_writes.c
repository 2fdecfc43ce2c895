/* SPDX-License-Identifier: BSD-3-Clause */
/* test_writes.c - copies by non-temporal stores bring every byte and no other; the stores that are
 * taken follow what they were seen to take.  Needs no running MPI. */
#include "core/writes.h"

#include <stdlib.h>

#include "testing/testing.h"

enum {
    KIB = 1024,
    TRIAL = CCO_WRITES_WARM + CCO_WRITES_SEEN,
    PERCENT = 250,
    PLACES = 130, /* a line and more on either side */
    LONGEST = 70 * KIB
};

static char from[LONGEST + 2 * PLACES], to[LONGEST + 2 * PLACES];

/* Whether `to` has the bytes of `from` from `at` on, and nothing was written around them. */
static bool came(size_t at, size_t source, size_t n)
{
    bool right = memcmp(to + at, from + source, n) == 0;
    for (size_t i = at > 64 ? at - 64 : 0; i < at; i++)
        right = right && to[i] == 1;
    for (size_t i = at + n; i < at + n + 64; i++)
        right = right && to[i] == 1;
    return right;
}

static void every_byte(void)
{
    static const size_t lengths[] = {0, 1, 15, 63, 64, 65, 127, 200, 4095, 4096, 8191, 65536};
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(2 + i * 2654435761u % 250);
    for (int i = 0; i < LEN(lengths); i++)
        for (size_t at = 0; at < PLACES; at += 1 + (lengths[i] > 200) * 6) {
            const size_t source = at * 7 % 67;
            memset(to, 1, sizeof to);
            cco_copy_nontemporal(to + at, from + source, lengths[i]);
            CHECK(came(at, source, lengths[i]), "%zu bytes at %zu", lengths[i], at);
        }
}

/* Copies of 1 KiB that take `times[kind]`; the kind of the last one. */
static cco_write_kind after(cco_writes_size *s, int copies, const uint64_t times[CCO_WRITES])
{
    cco_write_kind kind = CCO_WRITE_CACHED;
    while (copies-- > 0) {
        kind = cco_writes_next(s);
        cco_writes_note(s, PERCENT, times[kind], KIB);
    }
    return kind;
}

static void the_faster(void)
{
    static const uint64_t far_off[] = {900, 100}, alike[] = {240, 100}, nearest[] = {50, 100};
    cco_writes_size s = {0};
    CHECK(after(&s, TRIAL, far_off) == CCO_WRITE_CACHED, "a trial of ordinary stores comes first");
    CHECK(after(&s, TRIAL, far_off) == CCO_WRITE_NONTEMPORAL, "then one of the others");
    CHECK(after(&s, 100, far_off) == CCO_WRITE_NONTEMPORAL, "non-temporal stores far apart");
    CHECK(after(&s, CCO_WRITES_PERIOD, nearest) == CCO_WRITE_CACHED, "the cores came near");
    s = (cco_writes_size){0};
    CHECK(after(&s, 3 * TRIAL, alike) == CCO_WRITE_CACHED, "2.4 times is not enough");
    CHECK(after(&s, CCO_WRITES_SEEN + 2 * TRIAL + 1, far_off) == CCO_WRITE_NONTEMPORAL,
          "ordinary stores became slow");
}

/* One that was interrupted counts for nothing; and times of all sizes fit. */
static void what_is_rare(void)
{
    static const uint64_t times[] = {100, 90}, rare[] = {1000000, 1000000},
                          longest[] = {UINT64_MAX / KIB, UINT64_MAX / KIB};
    cco_writes_size s = {0};
    after(&s, CCO_WRITES_WARM, times);
    after(&s, 2, rare);
    CHECK(after(&s, 3 * TRIAL, times) == CCO_WRITE_CACHED, "two of five");
    for (int i = 0; i < 100; i++) {
        after(&s, 1, rare);
        CHECK(after(&s, 1, times) == CCO_WRITE_CACHED, "one in two, behind the trial");
    }
    s = (cco_writes_size){0};
    CHECK(after(&s, 3 * TRIAL, longest) == CCO_WRITE_CACHED, "the longest times");
}

/* Real copies of all sizes and uses, in turn: through the trials and behind them. */
static void in_turn(void)
{
    static cco_writes w;
    for (int i = 0; i < 12 * TRIAL; i++) {
        const size_t n = (size_t)CCO_WRITES_LEAST / 2 << i % 5, at = (size_t)i % 64;
        memset(to, 1, n + 2 * PLACES);
        cco_writes_copy(&w, i / 5 % CCO_WRITES_USES, to + at, from + i % 32, n);
        CHECK(came(at, (size_t)i % 32, n), "copy %d, %zu bytes", i, n);
    }
}

int main(void)
{
    every_byte();
    the_faster();
    what_is_rare();
    in_turn();
    return testing_end("writes");
}
