/* SPDX-License-Identifier: BSD-3-Clause */
/* yielding.c - see yielding.h. */
#include "base/yielding.h"

#include <sched.h>
#include <time.h>

enum {
    LONG_US = 500,  /* of a yield: others were on the core; alone it takes less than 1 */
    TRY_US = 50000, /* both ways are tried for so long: some time slices */
    SOON = 5,       /* after this part of that, a way that is worse by far has been tried enough */
    FAR_WORSE = 2,  /* so many times fewer waits, of these at least: */
    ENOUGH = 8,
    HOLD_FIRST = 8, /* times as long for the better one, then */
    HOLD_MOST = 64, /* twice as long each time that it is still better */
};

typedef enum way { KEEP, YIELD, WAYS } way;

typedef struct choice {
    bool shared; /* others compete for the core */
    way now;
    bool tried;      /* the other way, since this began; */
    int hold;        /* then how often TRY_US for the better one */
    long long start; /* of the present way, microseconds, */
    long long until;
    long waits;        /* and waits since then */
    bool disturbed;    /* a yield took long since then */
    double rate[WAYS]; /* waits in a microsecond */
} choice;

static _Thread_local choice mine __attribute__((tls_model("initial-exec")));

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void yielding_begin(choice *c, way now, long long at, long long length)
{
    c->now = now;
    c->start = at;
    c->until = at + length;
    c->waits = 0;
    c->disturbed = false;
}

/* Time is up for the present way. */
static void yielding_decide(choice *c, long long at)
{
    const way other = c->now == KEEP ? YIELD : KEEP;
    c->rate[c->now] = (double)c->waits / (double)(at - c->start);
    if (c->now == YIELD && !c->disturbed) {
        c->shared = false;
        return;
    }
    if (!c->tried) {
        c->tried = true;
        yielding_begin(c, other, at, TRY_US);
        return;
    }
    const way better = c->rate[KEEP] > c->rate[YIELD] ? KEEP : YIELD;
    c->hold = better == other && c->hold < HOLD_MOST ? 2 * c->hold : HOLD_FIRST;
    c->tried = false;
    yielding_begin(c, better, at, (long long)c->hold * TRY_US);
}

/* Whether the way that is tried is so much worse that the rest of its time would only be lost. */
static bool yielding_hopeless(const choice *c, long long at)
{
    const way other = c->now == KEEP ? YIELD : KEEP;
    const double taken = (double)(at - c->start), others = c->rate[other] * taken;
    return c->tried && taken * SOON >= TRY_US && others >= ENOUGH &&
           (double)c->waits * FAR_WORSE < others;
}

void cco_yielding_wait(void)
{
    mine.waits++;
}

bool cco_yielding_try(void)
{
    choice *c = &mine;
    const long long before = now_us();
    if (c->shared && (before >= c->until || yielding_hopeless(c, before)))
        yielding_decide(c, before);
    if (c->shared && c->now == KEEP)
        return false;
    sched_yield();
    const long long after = now_us();
    if (after - before >= LONG_US) {
        if (!c->shared) {
            *c = (choice){.shared = true, .hold = HOLD_FIRST};
            yielding_begin(c, KEEP, after, TRY_US);
        }
        c->disturbed = true;
    }
    return true;
}
