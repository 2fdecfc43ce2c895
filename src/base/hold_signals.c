/* SPDX-License-Identifier: BSD-3-Clause */
/* hold_signals.c - see hold_signals.h. */
#include "base/hold_signals.h"

#include <errno.h>
#include <time.h>

static const int signals[] = {SIGXFSZ, SIGPIPE};

enum { COUNT = (int)(sizeof signals / sizeof *signals) };

void cco_hold_signals(cco_held_signals *held)
{
    sigset_t mine, pending;
    sigemptyset(&mine);
    sigemptyset(&held->taken);
    sigpending(&pending);
    for (int i = 0; i < COUNT; i++) {
        sigaddset(&mine, signals[i]);
        if (!sigismember(&pending, signals[i]))
            sigaddset(&held->taken, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &mine, &held->before);
}

/* The kernel sends both to the thread that made the call. */
void cco_let_signals_go(const cco_held_signals *held)
{
    const struct timespec now = {0, 0};
    const int error = errno;
    int taken;
    do
        taken = sigtimedwait(&held->taken, NULL, &now);
    while (taken > 0 || (taken < 0 && errno == EINTR));
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = error;
}
