/* SPDX-License-Identifier: BSD-3-Clause */
/* writes.c - see writes.h.
 *
 * A period begins with a trial of each kind: some copies that bring the slots into the state in
 * which this kind leaves them, and some that are measured.  Non-temporal stores must be faster by
 * far, for the reader fetches from memory what they wrote.  Ordinary stores that become slow, as
 * when a process moved to a core that is farther off, begin another period: they may take ten times
 * as long, but the others never do. */
#include "core/writes.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "core/clock.h"

enum {
    LINE = 64,
    TRIAL = CCO_WRITES_WARM + CCO_WRITES_SEEN,
};

/* Percent of the time of non-temporal stores above which ordinary ones are slower in the end: more
 * for small copies, since the way to memory and back takes some time, however little goes. */
static const unsigned most[CCO_WRITES_USES][CCO_WRITES_SIZES] = {
    [CCO_WRITES_AT_ONCE] = {800, 700, 400, 400, 400},
    [CCO_WRITES_ONE_WAY] = {800, 700, 175, 175, 175},
};

cco_write_kind cco_writes_next(const cco_writes_size *s)
{
    return s->copies < TRIAL       ? CCO_WRITE_CACHED
           : s->copies < 2 * TRIAL ? CCO_WRITE_NONTEMPORAL
                                   : s->faster;
}

/* Sorts a time into the others of a trial. */
static void insert(uint32_t *seen, unsigned count, uint32_t time)
{
    for (; count > 0 && seen[count - 1] > time; count--)
        seen[count] = seen[count - 1];
    seen[count] = time;
}

static uint32_t median(const cco_writes_size *s, cco_write_kind kind)
{
    return s->seen[kind][CCO_WRITES_SEEN / 2];
}

static void judge(cco_writes_size *s, unsigned percent)
{
    const uint64_t cached = median(s, CCO_WRITE_CACHED),
                   nontemporal = median(s, CCO_WRITE_NONTEMPORAL);
    s->faster = 100 * cached > percent * nontemporal ? CCO_WRITE_NONTEMPORAL : CCO_WRITE_CACHED;
    s->slow = 0;
}

/* Whether ordinary stores, which were faster, take twice as long now: several in turn, for one may
 * have been interrupted. */
static bool became_slow(cco_writes_size *s, uint32_t time)
{
    const bool slow = s->faster == CCO_WRITE_CACHED && time / 2 > median(s, CCO_WRITE_CACHED);
    s->slow = slow ? s->slow + 1 : 0;
    return s->slow == CCO_WRITES_SEEN;
}

void cco_writes_note(cco_writes_size *s, unsigned percent, uint64_t ticks, size_t n)
{
    const unsigned at = s->copies % TRIAL, trial = s->copies / TRIAL;
    const uint64_t each = ticks * 1024 / n;
    const uint32_t time = each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
    if (trial < CCO_WRITES && at >= CCO_WRITES_WARM)
        insert(s->seen[trial], at - CCO_WRITES_WARM, time);
    const bool changed = trial >= CCO_WRITES && became_slow(s, time);
    if (++s->copies == CCO_WRITES * TRIAL)
        judge(s, percent);
    if (s->copies == CCO_WRITES_PERIOD || changed)
        s->copies = 0;
}

#if defined(__x86_64__)
/* Whole lines, since a part of one takes as long. */
void cco_copy_nontemporal(char *to, const char *from, size_t n)
{
    const size_t before = -(uintptr_t)to % LINE, head = before < n ? before : n;
    memcpy(to, from, head);
    for (to += head, from += head, n -= head; n >= LINE; to += LINE, from += LINE, n -= LINE)
        for (size_t i = 0; i < LINE; i += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(to + i),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    memcpy(to, from, n);
    _mm_sfence();
}
#else
void cco_copy_nontemporal(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

static int size_of(size_t n)
{
    int i = 0;
    while (i < CCO_WRITES_SIZES - 1 && n >= (size_t)CCO_WRITES_LEAST << (i + 1))
        i++;
    return i;
}

void cco_writes_copy_large(cco_writes *w, cco_writes_use use, char *to, const char *from, size_t n)
{
    const int size = size_of(n);
    cco_writes_size *s = &w->sizes[use][size];
    const uint64_t start = cco_ticks();
    if (cco_writes_next(s) == CCO_WRITE_NONTEMPORAL)
        cco_copy_nontemporal(to, from, n);
    else
        memcpy(to, from, n);
    cco_writes_note(s, most[use][size], cco_ticks() - start, n);
}
