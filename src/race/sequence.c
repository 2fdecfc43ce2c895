/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.c - see sequence.h. */
#include "race/sequence.h"

enum {
    REPEATS = 4, /* of a period, at least, before it counts; */
    WINDOW = 16, /* so many periods are looked at, */
    NEARLY = 8   /* and one word in so many may be another */
};

void cco_sequence_add(cco_sequence *sequence, uint64_t word)
{
    sequence->words[sequence->count++ % CCO_SEQUENCE_WORDS] = word;
}

bool cco_sequence_is_due(const cco_sequence *sequence)
{
    unsigned n = sequence->count;
    if (n < 16)
        return false;
    while (n > 3 && n % 2 == 0)
        n /= 2;
    return n <= 3;
}

/* Word `back` before the last. */
static uint64_t word_at(const cco_sequence *sequence, unsigned back)
{
    return sequence->words[(sequence->count - 1 - back) % CCO_SEQUENCE_WORDS];
}

static bool repeats_after(const cco_sequence *sequence, unsigned period)
{
    const unsigned kept = sequence->count < CCO_SEQUENCE_WORDS ? sequence->count
                                                               : CCO_SEQUENCE_WORDS;
    unsigned window = period * WINDOW, others = 0;
    if (kept < period * REPEATS)
        return false;
    if (window > kept - period)
        window = kept - period;
    for (unsigned i = 0; i < window; i++)
        others += word_at(sequence, i) != word_at(sequence, i + period);
    return others * NEARLY <= window;
}

uint64_t cco_sequence_periods(const cco_sequence *sequence)
{
    uint64_t periods = 0;
    for (unsigned p = 1; p <= CCO_SEQUENCE_LONGEST; p++)
        if (repeats_after(sequence, p))
            periods |= 1ull << (p - 1);
    return periods;
}

uint64_t cco_mix(uint64_t word, uint64_t more)
{
    word = (word ^ more) * 0x9e3779b97f4a7c15u;
    return word ^ word >> 29;
}
