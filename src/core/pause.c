/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.c - see pause.h. */
#include "core/pause.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS =
        1000, /* looks before the first yield when every rank has a core: some 50 microseconds */
    YIELDS = 20000, /* yields before the first sleep: some milliseconds, far beyond any collective
                       on a node */
    NAP_NS = 20 * 1000,
};

static bool crowded = true;

void cco_pause_crowded(bool now)
{
    crowded = now;
}

void cco_pause(int *tries)
{
    const int spins = crowded ? 0 : SPINS, now = *tries;
    if (now < spins + YIELDS) { /* then stay here, and never overflow */
        *tries = now + 1;
        if (now >= spins)
            sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}
