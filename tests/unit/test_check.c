/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - a long round touches memory twice if two of its steps, alone, do. */
#include "sched/check.h"
#include "testing/testing.h"

enum { SIZE = 4, WIDE = 6, MOST = 80, ROUNDS = 2000 };

/* Elements with gaps; of OUT, downwards. */
static const cco_layout layouts[CCO_BASES] = {{.size = SIZE, .extent = WIDE},
                                              {.size = SIZE, .extent = -WIDE},
                                              {.size = 1, .extent = 1, .dense = true}};

static unsigned dice(unsigned sides)
{
    static unsigned x = 1;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % sides;
}

/* Two elements at most, mostly in a place of its own. */
static cco_span span(int place)
{
    const cco_base base = (cco_base)dice(CCO_BASES);
    const ptrdiff_t astray = dice(20) == 0 ? (ptrdiff_t)dice(4 * WIDE) : 0;
    return (cco_span){.base = base,
                      .layout = (int)base,
                      .at = place * 2 * WIDE + astray,
                      .n = dice(3) * layouts[base].size};
}

static bool alone(const cco_sched *s, int i, int j)
{
    cco_step two[] = {s->steps[i], s->steps[j]};
    const cco_sched short_round = {.layouts = layouts, .steps = two, .count = 2};
    int one, other;
    return cco_check_round(&short_round, 0, 2, &one, &other);
}

static bool try_round(void)
{
    static const cco_step_kind kinds[] = {CCO_STEP_SEND, CCO_STEP_RECV, CCO_STEP_COPY,
                                          CCO_STEP_REDUCE};
    cco_step steps[MOST];
    const cco_sched s = {.layouts = layouts, .steps = steps, .count = 1 + (int)dice(MOST)};
    bool expected = false;
    int one = 0, other = 0;
    for (int i = 0; i < s.count; i++) {
        steps[i] = (cco_step){.kind = kinds[dice(LEN(kinds))]};
        steps[i].a = span(2 * i);
        steps[i].b = dice(50) == 0 ? steps[i].a : span(2 * i + 1); /* what it may */
    }
    for (int i = 0; i < s.count; i++)
        for (int j = 0; j < i; j++)
            expected = expected || alone(&s, i, j);
    const bool found = cco_check_round(&s, 0, s.count, &one, &other);
    CHECK(found == expected, "%d steps: %d, not %d", s.count, found, expected);
    CHECK(!found || alone(&s, one, other), "steps %d and %d touch nothing twice", one, other);
    return found;
}

int main(void)
{
    int found = 0;
    for (int i = 0; i < ROUNDS; i++)
        found += try_round();
    CHECK(found > ROUNDS / 10 && found < ROUNDS - ROUNDS / 10, "%d rounds: no sample", found);
    return testing_end("check");
}
