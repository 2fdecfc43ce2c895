/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.c - see pause.h. */
#include "base/pause.h"

#include <sched.h>
#include <time.h>

#include "base/thread_count.h"
#include "base/yielding.h"

enum {
    SPINS = 1000,        /* looks before the first yield when every rank has a core */
    SPINS_UNKNOWN = 50,  /* while nobody knows: little in either case */
    SPINS_THREADS = 400, /* where threads outnumber them: some 10 us of looks at memory, some 50 of
                            tests; with 20 of them p2p took three times as long */
    YIELDS = 20000,      /* yields before the first sleep: some milliseconds, far beyond any
                            collective on a node */
    NAP_NS = 20 * 1000,
    MOVE_SPINS = 256, /* spins, or */
    MOVE_YIELDS = 8,  /* yields from one move of the MPI to the next */
};

static int spins = SPINS_UNKNOWN;
static bool mpi_yields;
static void (*move)(void);

void cco_pause_set_progress(void (*how)(void))
{
    __atomic_store_n(&move, how, __ATOMIC_RELEASE);
}

static void move_on(void)
{
    void (*how)(void) = __atomic_load_n(&move, __ATOMIC_ACQUIRE);
    if (how != NULL)
        how();
}

void cco_pause_crowded(bool crowded)
{
    spins = crowded ? 0 : SPINS;
}

bool cco_pause_crowds(void)
{
    return spins == 0;
}

void cco_pause_mpi_yields(bool yields)
{
    mpi_yields = yields;
}

static void back_off(void)
{
    move_on();
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Looks before the first yield, of either kind. */
static int pause_looks(void)
{
    return spins == SPINS && cco_threads_crowd() ? SPINS_THREADS : spins;
}

/* Where a wait is: behind the looks at memory as soon as yields begin. */
static int pause_place(int tries, int most)
{
    return most < SPINS && tries < 0 && tries - CCO_PAUSE_MEMORY >= most ? most : tries;
}

static void pause_pause_after(int *tries, bool yielded)
{
    const int most = pause_looks(), now = pause_place(*tries, most), last = most + YIELDS;
    if (now >= last) { /* stay here, and never overflow */
        *tries = now < last + CCO_PAUSE_LOOKS - 1 ? now + 1 : last;
        if (now == last)
            back_off();
        return;
    }
    *tries = now + 1;
    const int steps = now - CCO_PAUSE_MEMORY;
    if (steps % (now < most ? MOVE_SPINS : MOVE_YIELDS) == MOVE_YIELDS - 1 && steps > MOVE_YIELDS)
        move_on();
    if (now == 0 || now == CCO_PAUSE_MEMORY) {
        cco_threads_note();
        cco_yielding_wait();
    }
    if (now < 0)
        cco_pause_look();
    if (now < most)
        return;
    if (most < SPINS && !yielded)
        sched_yield(); /* our own ranks, or threads, outnumber the cores: it lets them go on */
    else if (most == SPINS && !cco_yielding_try())
        *tries -= MOVE_SPINS;
}

void cco_pause(int *tries)
{
    pause_pause_after(tries, false);
}

void cco_pause_after_mpi(int *tries)
{
    pause_pause_after(tries, mpi_yields);
}
