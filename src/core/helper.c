/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.c - see helper.h. */
#include "core/helper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    SHORTEST_NS = 20 * 1000, /* nap after something moved */
    LONGEST_NS = 1000 * 1000,
    TIMES_A_LOOK = 16, /* but so many times as long as the look: looks take time from somebody */
    GROWTH = 8, /* a nap is an eighth longer than the one before */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool runs;  /* the thread is there */
static bool stops; /* it shall end */
static int under_way;
static bool news; /* something began since the last look */

static bool is_idle(void)
{
    return __atomic_load_n(&under_way, __ATOMIC_ACQUIRE) <= 0;
}

static bool shall_stop(void)
{
    return __atomic_load_n(&stops, __ATOMIC_ACQUIRE);
}

static void sleep_while_idle(void)
{
    pthread_mutex_lock(&lock);
    while (is_idle() && !shall_stop())
        pthread_cond_wait(&wake, &lock);
    pthread_mutex_unlock(&lock);
}

static long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long at_most(long a, long b)
{
    return a < b ? a : b;
}

static long at_least(long a, long b)
{
    return a > b ? a : b;
}

static void *work(void *data)
{
    cco_helper_look look = *(cco_helper_look *)data;
    long nap = SHORTEST_NS;
    prctl(PR_SET_TIMERSLACK, 1); /* naps as long as they say; usually they take 50 us more */
    while (!shall_stop()) {
        if (is_idle()) {
            sleep_while_idle();
            continue;
        }
        const long start = now_ns();
        const bool moved = look();
        const long least = at_most((now_ns() - start) * TIMES_A_LOOK, LONGEST_NS);
        if (__atomic_exchange_n(&news, false, __ATOMIC_RELAXED) || moved)
            nap = SHORTEST_NS;
        nanosleep(&(struct timespec){.tv_nsec = at_least(nap, least)}, NULL);
        nap = at_most(nap + nap / GROWTH, LONGEST_NS);
    }
    return NULL;
}

/* The program's signals are not for this thread. */
static bool create(cco_helper_look look)
{
    static cco_helper_look kept;
    sigset_t all, before;
    kept = look;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool created = pthread_create(&thread, NULL, work, &kept) == 0;
    if (created)
        pthread_setname_np(thread, "crestacoll");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
}

bool cco_helper_start(cco_helper_look look)
{
    pthread_mutex_lock(&lock);
    if (!runs)
        __atomic_store_n(&runs, create(look), __ATOMIC_RELEASE);
    const bool there = runs;
    pthread_mutex_unlock(&lock);
    return there;
}

void cco_helper_count(int change)
{
    const int before = __atomic_fetch_add(&under_way, change, __ATOMIC_ACQ_REL);
    if (change <= 0)
        return;
    __atomic_store_n(&news, true, __ATOMIC_RELAXED);
    if (before > 0 || !__atomic_load_n(&runs, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock); /* it sleeps, or is about to */
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

void cco_helper_stop(void)
{
    pthread_mutex_lock(&lock);
    const bool there = runs;
    __atomic_store_n(&runs, false, __ATOMIC_RELEASE);
    __atomic_store_n(&stops, true, __ATOMIC_RELEASE);
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    if (there)
        pthread_join(thread, NULL);
    __atomic_store_n(&stops, false, __ATOMIC_RELEASE);
}
