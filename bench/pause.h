/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.h - what to do between two looks at a cache line that another core is to write. */
#ifndef BENCH_PAUSE_H
#define BENCH_PAUSE_H

/* Whoever looks all the time takes the line from its writer, and the exchange takes 20 % longer. */
static inline void bench_pause_look(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* its yield takes no time on most processors */
#endif
}

#endif
