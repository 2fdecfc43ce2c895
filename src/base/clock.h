/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - a cheap tick counter for recording, and its length in seconds; nanoseconds. */
#ifndef CCO_CLOCK_H
#define CCO_CLOCK_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
/* The time stamp counter runs at constant rate on every x86-64 of the last decade; two reads cost
 * half of two clock_gettime. */
static inline uint64_t cco_ticks(void)
{
    return __builtin_ia32_rdtsc(); /* <x86intrin.h> takes the compiler half a second */
}
#elif defined(__aarch64__)
static inline uint64_t cco_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static inline uint64_t cco_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
#endif

static inline double cco_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A clock of the system in nanoseconds. */
static inline long cco_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Two readings of both clocks, far apart, tell how long a tick is. */
typedef struct cco_clock_mark {
    uint64_t ticks;
    double seconds;
} cco_clock_mark;

static inline cco_clock_mark cco_clock_now(void)
{
    return (cco_clock_mark){cco_ticks(), cco_seconds()};
}

static inline double cco_tick_us(cco_clock_mark from, cco_clock_mark to)
{
    return to.ticks > from.ticks
               ? 1e6 * (to.seconds - from.seconds) / (double)(to.ticks - from.ticks)
               : 0;
}

#endif
