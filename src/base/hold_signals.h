/* SPDX-License-Identifier: BSD-3-Clause */
/* hold_signals.h - errors of system calls that would end the process by a signal: a file beyond the
 * limit of its size (SIGXFSZ; ulimit -f), a pipe that nobody reads (SIGPIPE).
 *
 * In between, such a call only returns its error, in this thread.  What handlers the program has
 * does not matter, and they are not called. */
#ifndef CCO_HOLD_SIGNALS_H
#define CCO_HOLD_SIGNALS_H

#include <signal.h>

typedef struct cco_held_signals {
    sigset_t before; /* blocked already */
    sigset_t taken;  /* to be taken from the queue when they end: they have not been there before */
} cco_held_signals;

void cco_hold_signals(cco_held_signals *held);

/* Keeps errno. */
void cco_let_signals_go(const cco_held_signals *held);

#endif
