/* SPDX-License-Identifier: BSD-3-Clause */
/* test_writes.c - copies by non-temporal stores bring every byte and no other; the stores that are
 * taken follow what they were seen to take.  Needs no running MPI. */
#include "base/writes.h"

#include <stdlib.h>

#include "testing/testing.h"

enum {
    KIB = 1024,
    RING = 8 * KIB,
    BLOCK = RING / KIB + CCO_WRITES_SEEN, /* copies of 1 KiB */
    TRIAL = CCO_WRITES_BLOCKS * BLOCK,
    PERCENT = 250,
    PLACES = 130, /* a line and more on either side */
    LONGEST = 140 * KIB
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

typedef uint64_t both[CCO_WRITES]; /* ticks of a copy of 1 KiB */

static const both far_off = {900, 100}, alike = {240, 100}, nearest = {50, 100},
                  rare = {1000000, 1000000};

/* Makes copies; how many of them took non-temporal stores. */
static int copies(cco_writes_size *s, int count, const both times)
{
    int nontemporal = 0;
    while (count-- > 0) {
        const cco_write_kind kind = cco_writes_next(s);
        nontemporal += kind == CCO_WRITE_NONTEMPORAL;
        cco_writes_note(s, RING, PERCENT, times[kind], KIB);
    }
    return nontemporal;
}

static void the_faster(void)
{
    cco_writes_size s = {0};
    CHECK(copies(&s, BLOCK, far_off) == 0, "ordinary stores come first");
    CHECK(copies(&s, BLOCK, far_off) == BLOCK, "then the others");
    CHECK(copies(&s, TRIAL - 2 * BLOCK, far_off) == TRIAL / 2 - BLOCK, "and so on");
    CHECK(copies(&s, 100, far_off) == 100, "far apart");
    copies(&s, CCO_WRITES_PERIOD * TRIAL, nearest);
    CHECK(copies(&s, 100, nearest) == 0, "a period later, the cores being near");
    s = (cco_writes_size){0};
    copies(&s, TRIAL, alike);
    CHECK(copies(&s, 100, alike) == 0, "2.4 times is not enough");
}

/* Some copies of a pattern find their lines in this core's cache and some do not: all count, but
 * for one that took longest. */
static void some_are_far(void)
{
    cco_writes_size s = {0};
    for (int i = 0; i < TRIAL; i++)
        copies(&s, 1, i % 3 == 0 ? far_off : nearest);
    CHECK(copies(&s, 100, alike) == 100, "a third is far off");
    s = (cco_writes_size){0};
    for (int i = 0; i < TRIAL; i++)
        copies(&s, 1, i == BLOCK - 1 ? rare : nearest);
    CHECK(copies(&s, 100, nearest) == 0, "one was interrupted");
}

/* Ordinary stores that take longer than in the trial, each one less than twice as long: no longer.
 */
static void not_as_tried(void)
{
    static const both tried = {150, 100}, later = {260, 100};
    cco_writes_size s = {0};
    copies(&s, TRIAL, tried);
    CHECK(copies(&s, 100, tried) == 0, "as in the trial");
    CHECK(copies(&s, 200, later) > 100, "later");
    static const both cold = {260, 200};
    s = (cco_writes_size){0};
    copies(&s, TRIAL, tried);
    CHECK(copies(&s, 300, cold) <= 2 * CCO_WRITES_SEEN, "what is copied is no longer in the cache");
    s = (cco_writes_size){0};
    copies(&s, TRIAL, tried);
    int interrupted = 0;
    for (int i = 0; i < 300; i++)
        interrupted += copies(&s, 1, i % 50 < 2 ? rare : tried);
    CHECK(interrupted == 0, "two copies of fifty were interrupted");
}

/* Patterns that meet in one place: the second takes what the first found, until that one has been
 * absent for long, the second and the third time longer. */
static void patterns(void)
{
    enum { LONG = 10000, TIMES = 6, LONGER = 2 };
    cco_writes_size s = {0};
    CHECK(cco_writes_learns(&s, 7), "the first");
    copies(&s, TRIAL, far_off);
    CHECK(!cco_writes_learns(&s, 8) && s.faster == CCO_WRITE_NONTEMPORAL, "another");
    int before[TIMES] = {0};
    copies(&s, CCO_WRITES_PERIOD * TRIAL, far_off);
    while (s.copies > 0)
        copies(&s, 1, far_off);
    CHECK(!cco_writes_learns(&s, 8), "another, when a trial begins");
    CHECK(cco_writes_learns(&s, 7), "the first again");
    copies(&s, TRIAL, far_off);
    for (int i = 0; i < TIMES; i++) {
        while (before[i] < LONG && !cco_writes_learns(&s, 8 + (uint32_t)i))
            before[i]++;
        CHECK(s.pattern == 8 + (uint32_t)i && s.length == 0, "takes the place");
        copies(&s, TRIAL, nearest);
        CHECK(!cco_writes_learns(&s, 7), "the first, too late");
        CHECK(cco_writes_learns(&s, s.pattern) && s.others == 0, "the one that took it");
    }
    for (int i = 1; i < TIMES; i++)
        CHECK(i <= LONGER ? before[i] > before[i - 1] : before[i] == before[LONGER],
              "%d copies, then %d, the %d. time", before[i - 1], before[i], i);
    CHECK(before[TIMES - 1] <= 257, "%d copies at most", before[TIMES - 1]);
    s.faster = CCO_WRITE_NONTEMPORAL;
    while (!cco_writes_learns(&s, 7))
        ;
    CHECK(s.faster == CCO_WRITE_NONTEMPORAL, "others take what was found until there is more");
}

/* What became slow is tried again, in either direction; each time later if nothing changes. */
static void what_became_slow(void)
{
    static const both slow_memory = {100, 900}, all_slow = {500, 1000};
    cco_writes_size s = {0};
    copies(&s, 3 * TRIAL, nearest);
    CHECK(copies(&s, 4, far_off) == 0 && copies(&s, 1, nearest) == 0 && copies(&s, 4, far_off) == 0,
          "four are not enough");
    CHECK(copies(&s, 1 + TRIAL + 10, far_off) == TRIAL / 2 + 10, "the fifth");
    copies(&s, 5 * TRIAL, slow_memory);
    CHECK(copies(&s, 10, slow_memory) == 0, "non-temporal stores became slow");
    s = (cco_writes_size){0};
    copies(&s, TRIAL, nearest);
    int tried = 0;
    for (int i = 0; i < 200; i++)
        tried += copies(&s, 10, all_slow) + copies(&s, TRIAL, nearest);
    CHECK(tried < 10 * TRIAL, "%d of %d copies tried the slower kind", tried, 200 * (TRIAL + 10));
}

/* Makes copies until a trial begins; how many. */
static int until_trial(cco_writes_size *s, const both times)
{
    int count = 0;
    for (; s->copies > 0; count++)
        copies(s, 1, times);
    return count;
}

/* How long trials without effect put off the next one: to the end of the period, and no longer. */
static void in_vain(void)
{
    static const both all_slow = {500, 1000};
    enum { MANY = 300 }; /* more than there are bits to shift by, and than a byte counts */
    cco_writes_size s = {0};
    copies(&s, TRIAL, nearest);
    for (int i = 1, last = TRIAL; i <= MANY; i++) {
        const int most = CCO_WRITES_PERIOD * TRIAL, wanted = last < most / 2 ? 2 * last : most,
                  time = TRIAL + until_trial(&s, all_slow);
        CHECK(time == wanted, "%d copies from trial %d to the next, not %d", time, i, wanted);
        CHECK(1u << s.in_vain <= CCO_WRITES_PERIOD, "%d in vain", s.in_vain);
        last = time;
        copies(&s, TRIAL, nearest);
    }
    CHECK(1u << s.in_vain == CCO_WRITES_PERIOD, "%d in vain", s.in_vain);
}

/* Some that were interrupted count for nothing, nor does what else changes; all times fit. */
static void what_is_rare(void)
{
    static const both times = {200, 90}, slower = {2000, 900}, longest = {UINT64_MAX, UINT64_MAX};
    cco_writes_size s = {0};
    for (int i = 0; i < 2 * TRIAL; i++)
        copies(&s, 1, i % BLOCK == RING / KIB ? rare : times);
    CHECK(copies(&s, 100, times) == 0, "one of each block");
    s = (cco_writes_size){0};
    copies(&s, BLOCK, slower);
    copies(&s, TRIAL, times);
    CHECK(copies(&s, 100, times) == 0, "a slower time, during the first block");
    s = (cco_writes_size){0};
    copies(&s, 2 * TRIAL, longest);
    CHECK(copies(&s, 10, longest) == 0, "the longest times");
}

/* Real copies of all sizes, uses and patterns, in turn: through the trials and behind them. */
static void in_turn(void)
{
    static cco_writes w = {.bytes = 2 * KIB};
    enum {
        SIZES = CCO_WRITES_SIZES + 2,
        COPIES = 2 * CCO_WRITES_BLOCKS * (CCO_WRITES_SEEN + 1),
        PATTERNS = CCO_WRITES_PATTERNS /* each in a place of its own */
    };
    for (int i = 0; i < PATTERNS * SIZES * COPIES; i++) {
        const size_t n = (size_t)CCO_WRITES_LEAST / 2 << i % SIZES, at = (size_t)i % 64;
        const uint32_t place = (uint32_t)(i / SIZES % PATTERNS), use = place % CCO_WRITES_USES;
        memset(to, 1, n + 2 * PLACES);
        cco_writes_copy(&w, use, place / CCO_WRITES_USES, to + at, from + i % 32, n);
        CHECK(came(at, (size_t)i % 32, n), "copy %d, %zu bytes", i, n);
    }
#if defined(__x86_64__)
    for (int i = 0; i < CCO_WRITES_PATTERNS * CCO_WRITES_SIZES; i++)
        CHECK(w.sizes[i % CCO_WRITES_PATTERNS][i / CCO_WRITES_PATTERNS].length > 0, "trial %d", i);
#endif
}

int main(void)
{
    every_byte();
    the_faster();
    some_are_far();
    not_as_tried();
    patterns();
    what_became_slow();
    in_vain();
    what_is_rare();
    in_turn();
    return testing_end("writes");
}
