/* SPDX-License-Identifier: BSD-3-Clause */
/* writes.c - see writes.h.
 *
 * A period begins with a trial: blocks of each kind of stores in turn, so that what else changes
 * meanwhile meets both.  A block begins with copies that bring the whole place into the state in
 * which this kind leaves it; the next ones are measured.  Non-temporal stores must be faster by
 * far, for the reader fetches from memory what they wrote.  If the kind that was chosen becomes
 * slow, as when a process moved to a core that is farther off, another period begins; later each
 * time that this changed nothing. */
#include "base/writes.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/clock.h"

enum {
    LINE = 64,
    SLOW = 5,     /* copies in turn: one may have been interrupted */
    PATIENCE = 7, /* trials without effect that count: 1 << PATIENCE is CCO_WRITES_PERIOD */
    WATCHED = 32, /* copies by ordinary stores that are compared with the trial */
    OUTLIER = 6,  /* times what would be too long in the mean: no more counts of one copy */
    OTHERS = 64,  /* copies in turn of another pattern, which then learns in that place */
    TAKEN = 2     /* OTHERS is doubled each time, but at most so often */
};

/* Percent of the time of non-temporal stores above which ordinary ones are slower in the end: more
 * for small copies, since the way to memory and back takes some time, however little goes.  From
 * two ranks, and four on two cores, of an AMD Zen 4 (docs/lab/design-notes.md). */
static const unsigned most[CCO_WRITES_USES][CCO_WRITES_SIZES] = {
    [CCO_WRITES_AT_ONCE] = {800, 700, 400, 400, 400},
    [CCO_WRITES_ONE_WAY] = {800, 700, 175, 175, 175},
    [CCO_WRITES_TO_ONE] = {800, 700, 225, 225, 225},
    [CCO_WRITES_IN_TURN] = {175, 175, 175, 175, 175},
};

cco_write_kind cco_writes_next(const cco_writes_size *s)
{
    if (s->block < CCO_WRITES_BLOCKS)
        return (cco_write_kind)(s->block % CCO_WRITES);
    return s->watched > 0 ? CCO_WRITE_NONTEMPORAL : (cco_write_kind)s->faster;
}

/* Sorts a time into the others of a trial. */
static void writes_insert(uint32_t *seen, unsigned count, uint32_t time)
{
    for (; count > 0 && seen[count - 1] > time; count--)
        seen[count] = seen[count - 1];
    seen[count] = time;
}

static uint64_t writes_median(const cco_writes_size *s, cco_write_kind kind)
{
    return s->seen[kind][sizeof s->seen[kind] / sizeof *s->seen[kind] / 2];
}

static void writes_judge(cco_writes_size *s, unsigned percent)
{
    const uint64_t cached = writes_median(s, CCO_WRITE_CACHED),
                   nontemporal = writes_median(s, CCO_WRITE_NONTEMPORAL);
    const cco_write_kind faster = 100 * cached > percent * nontemporal ? CCO_WRITE_NONTEMPORAL
                                                                       : CCO_WRITE_CACHED;
    if (faster != s->found)
        s->in_vain = 0;
    else if (s->in_vain < PATIENCE)
        s->in_vain++;
    s->found = (uint8_t)faster;
    s->faster = faster;
    s->length = s->copies;
}

/* Adds a copy to those that count.  Once there are `count`, their mean, without the longest of each
 * CCO_WRITES_SEEN, which may have been interrupted; 0 before.  Not the median: the lines of some
 * copies may be in this core's cache and those of others not, and all count. */
static uint64_t writes_mean(cco_writes_size *s, unsigned count, uint32_t time)
{
    s->sum += time;
    s->longest = time > s->longest ? time : s->longest;
    if (++s->counted % CCO_WRITES_SEEN > 0)
        return 0;
    s->sum -= s->longest;
    s->longest = 0;
    if (s->counted < count)
        return 0;
    const uint64_t each = s->sum / (count - count / CCO_WRITES_SEEN);
    s->counted = 0;
    s->sum = 0;
    return each > 0 ? each : 1;
}

static void try_out(cco_writes_size *s, size_t bytes, unsigned percent, uint32_t time, size_t n)
{
    if (s->passed < bytes) {
        s->passed += n;
        return;
    }
    const uint64_t each = writes_mean(s, CCO_WRITES_SEEN, time);
    if (each == 0)
        return;
    writes_insert(s->seen[s->block % CCO_WRITES], s->block / CCO_WRITES, (uint32_t)each);
    s->passed = 0;
    if (++s->block == CCO_WRITES_BLOCKS)
        writes_judge(s, percent);
}

/* Ordinary stores may take longer than they did in the trial: what both ranks choose brings lines
 * into states that a trial of one does not. */
static void writes_watch(cco_writes_size *s, unsigned percent, uint32_t time)
{
    const uint64_t other = writes_median(s, CCO_WRITE_NONTEMPORAL);
    if (s->faster != CCO_WRITE_CACHED)
        return;
    const uint64_t most_of_one = OUTLIER * percent * other / 100,
                   each = writes_mean(s, WATCHED,
                                      time < most_of_one ? time : (uint32_t)most_of_one);
    if (100 * each > percent * other)
        s->watched = (uint32_t)each;
}

/* Compares that with some copies by non-temporal stores, which take longer, too, if what is copied
 * is no longer in the cache. */
static void writes_compare(cco_writes_size *s, unsigned percent, uint32_t time)
{
    const uint64_t each = writes_mean(s, CCO_WRITES_SEEN, time);
    if (each == 0)
        return;
    if (100 * (uint64_t)s->watched > percent * each)
        s->faster = CCO_WRITE_NONTEMPORAL;
    enum { LAST = CCO_WRITES_BLOCKS / CCO_WRITES - 1 };
    uint32_t *seen = s->seen[CCO_WRITE_NONTEMPORAL];
    memmove(seen, seen + 1, LAST * sizeof *seen); /* the least goes */
    writes_insert(seen, LAST, (uint32_t)each);
    s->watched = 0;
}

/* Whether the kind that was chosen takes twice as long now, and a trial has had an effect lately.
 */
static bool became_slow(cco_writes_size *s, uint32_t time)
{
    if (time / 2 <= writes_median(s, s->faster))
        s->slow = 0;
    else if (s->slow < SLOW)
        s->slow++;
    return s->slow == SLOW && s->copies >= (uint64_t)s->length << s->in_vain;
}

static void try_again(cco_writes_size *s)
{
    s->block = 0;
    s->copies = 0;
    s->slow = 0;
    s->counted = 0;
    s->sum = 0;
    s->longest = 0;
}

void cco_writes_note(cco_writes_size *s, size_t bytes, unsigned percent, uint64_t ticks, size_t n)
{
    const uint64_t each = ticks / n < UINT32_MAX / 1024 ? ticks * 1024 / n : UINT32_MAX;
    const uint32_t time = (uint32_t)each;
    s->copies++;
    if (s->block < CCO_WRITES_BLOCKS)
        try_out(s, bytes, percent, time, n);
    else if (s->watched > 0)
        writes_compare(s, percent, time);
    else if (became_slow(s, time) || s->copies / CCO_WRITES_PERIOD >= s->length)
        try_again(s);
    else
        writes_watch(s, percent, time);
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

static int writes_size_of(size_t n)
{
    int i = 0;
    while (i < CCO_WRITES_SIZES - 1 && n >= (size_t)CCO_WRITES_LEAST << (i + 1))
        i++;
    return i;
}

static bool is_free(const cco_writes_size *s)
{
    return s->copies == 0 && s->length == 0;
}

bool cco_writes_learns(cco_writes_size *s, uint32_t pattern)
{
    if (s->pattern == pattern) {
        s->others = 0;
        return true;
    }
    if (!is_free(s) && ++s->others <= (uint32_t)OTHERS << s->taken)
        return false;
    const bool another = !is_free(s) && s->taken < TAKEN;
    *s = (cco_writes_size){
        .pattern = pattern, .taken = (uint8_t)(s->taken + another), .faster = s->faster};
    return true;
}

/* The place of a pattern; if it has none, and none is free, the one that it may share. */
static cco_writes_size *writes_place_of(cco_writes *w, uint32_t pattern, int size)
{
    for (uint32_t i = 0; i < CCO_WRITES_PATTERNS; i++) {
        cco_writes_size *s = &w->sizes[(pattern + i) % CCO_WRITES_PATTERNS][size];
        if (s->pattern == pattern || is_free(s))
            return s;
    }
    return &w->sizes[pattern % CCO_WRITES_PATTERNS][size];
}

void cco_writes_copy_large(cco_writes *w, cco_writes_use use, uint32_t pattern, char *to,
                           const char *from, size_t n)
{
    const int size = writes_size_of(n);
    const uint32_t own = pattern * CCO_WRITES_USES + use;
    cco_writes_size *s = writes_place_of(w, own, size);
    const bool learns = cco_writes_learns(s, own);
    const uint64_t start = cco_ticks();
    if ((learns ? cco_writes_next(s) : (cco_write_kind)s->faster) == CCO_WRITE_NONTEMPORAL)
        cco_copy_nontemporal(to, from, n);
    else
        memcpy(to, from, n);
    if (learns)
        cco_writes_note(s, w->bytes, most[use][size], cco_ticks() - start, n);
}
