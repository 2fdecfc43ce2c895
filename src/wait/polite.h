/* SPDX-License-Identifier: BSD-3-Clause */
/* polite.h - CRESTA_WAIT: whether the program's own blocking calls (MPI_Recv, MPI_Wait, ...) wait
 * by test and yield, instead of in the MPI, which may hold the core of whoever is to finish them.
 *
 * Each process decides for itself: the messages are the same either way. */
#ifndef CCO_POLITE_H
#define CCO_POLITE_H

#include <stdbool.h>

/* How the program's blocking calls differ from those of the MPI. */
enum {
    CCO_WAITS_POLITELY = 1,
    CCO_WAITS_NOTED = 2 /* where each thread is is noted, for a roll-call (hang/whereabouts.h) */
};
extern unsigned cco_waits __attribute__((visibility("hidden"))); /* use the functions */

static inline unsigned cco_waits_how(void)
{
    return __atomic_load_n(&cco_waits, __ATOMIC_RELAXED);
}

static inline bool cco_waits_politely(void)
{
    return cco_waits_how() & CCO_WAITS_POLITELY;
}

/* Decides, once it is known whether ranks outnumber the cores of this node (wait/wait.h).
 * `chosen`: an implementation was, for some collective. */
void cco_polite_decide(bool chosen);
void cco_polite_begin(void); /* by cco_job.chosen (comm/facts.h) */

/* A roll-call begins or ends. */
void cco_polite_note(bool noted);

/* MPI_Finalize is near: the MPI waits by itself. */
void cco_polite_end(void);

/* What is called after a change (interpose/blocking.c). */
void cco_polite_on_change(void (*changed)(void));

#endif
