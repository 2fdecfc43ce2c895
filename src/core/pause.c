/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.c - see pause.h. */
#include "core/pause.h"

#include <sched.h>
#include <time.h>

enum {
    SPINS = 1000,       /* looks before the first yield when every rank has a core: some 50 us */
    SPINS_UNKNOWN = 50, /* while nobody knows: little in either case */
    YIELDS = 20000,     /* yields before the first sleep: some milliseconds, far beyond any
                           collective on a node */
    NAP_NS = 20 * 1000,
};

static int spins = SPINS_UNKNOWN;

void cco_pause_crowded(bool crowded)
{
    spins = crowded ? 0 : SPINS;
}

bool cco_pause_crowds(void)
{
    return spins == 0;
}

void cco_pause(int *tries)
{
    const int now = *tries;
    if (now < spins + YIELDS) { /* then stay here, and never overflow */
        *tries = now + 1;
        if (now >= spins)
            sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}
