/* SPDX-License-Identifier: BSD-3-Clause */
/* pause.h - what to do between two looks at something that has not come yet. */
#ifndef CCO_PAUSE_H
#define CCO_PAUSE_H

#include <stdbool.h>

/* Where tries start for looks at memory: with the processor's pause they take 20 to 50 ns each,
 * where it has none some nanoseconds. */
#if defined(__x86_64__) || defined(__aarch64__)
enum { CCO_PAUSE_MEMORY = -4000 };
#else
enum { CCO_PAUSE_MEMORY = -20000 };
#endif

/* Between two looks at memory: whoever looks all the time takes the line from its writer, which
 * then waits for it once more. */
static inline void cco_pause_look(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* its yield takes no time on most processors */
#endif
}

/* After the `*tries`th look that found nothing: spins for 100 to 200 us, then yields the core, then
 * sleeps for short times; yields at once where ranks outnumber cores, and after a few microseconds
 * where threads do (base/thread_count.h).  Beside other programs it may keep the core instead
 * (base/yielding.h).  Start with 0 for looks by way of the MPI, with CCO_PAUSE_MEMORY for others.
 */
void cco_pause(int *tries);

/* Pauses after a look that was a test of the MPI.  Where ranks outnumber cores, an MPI that
 * yields the core in such a test (mpi/mpi_behavior.h) need not be followed by another yield. */
void cco_pause_after_mpi(int *tries);

/* What a long wait does now and then: it lets the MPI move on what the program has under way there.
 * Whoever we wait for may be waiting for just that.  NULL, as at first: nothing. */
void cco_pause_set_progress(void (*move)(void));

/* Says whether this node has more ranks than cores they may use.  Until somebody does, waits spin
 * for a few looks only. */
void cco_pause_crowded(bool crowded);
bool cco_pause_crowds(void); /* whether somebody said so */

/* Says whether the MPI yields the core in a test that finds nothing. */
void cco_pause_mpi_yields(bool yields);

/* Open MPI sees its sockets in one of so many looks. */
enum { CCO_PAUSE_LOOKS = 8 };

#endif
