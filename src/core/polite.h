/* SPDX-License-Identifier: BSD-3-Clause */
/* polite.h - CRESTA_WAIT: whether the program's own blocking calls (MPI_Recv, MPI_Wait, ...) wait
 * by test and yield, instead of in the MPI, which may hold the core of whoever is to finish them.
 *
 * Each process decides for itself: the messages are the same either way. */
#ifndef CCO_POLITE_H
#define CCO_POLITE_H

#include <stdbool.h>

extern bool cco_polite __attribute__((visibility("hidden"))); /* use the function */

static inline bool cco_waits_politely(void)
{
    return __atomic_load_n(&cco_polite, __ATOMIC_RELAXED);
}

/* Decides, once it is known whether ranks outnumber the cores of this node (core/wait.h).
 * `chosen`: an implementation was, for some collective. */
void cco_polite_decide(bool chosen);

/* MPI_Finalize is near: the MPI waits by itself. */
void cco_polite_end(void);

/* What is called after a change (interpose/blocking.c). */
void cco_polite_on_change(void (*changed)(void));

#endif
