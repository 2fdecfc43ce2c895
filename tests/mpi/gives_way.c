/* SPDX-License-Identifier: BSD-3-Clause */
/* gives_way.c - ranks that wait leave the cores to others.  Preloaded in the ranks of tests, of
 * which there are more than cores.
 *
 * MPICH asks UCX again and again, and a rank that does so keeps the core from the one that it waits
 * for until the kernel takes it, ten times as long as what is tested. MPICH has no setting for this
 * over UCX: here it yields whenever UCX has found nothing. An MPICH that waits for something else
 * is not changed. Open MPI has a setting, with which it yields, and the library yields by itself.
 *
 * To yield is a turn of the core all the same, and most of what tests would compute: who has
 * yielded often, and done little else in between, sleeps for a moment instead, and the longer it
 * has waited the longer, since waking up is a turn as well. What is waited for is late by a
 * quarter of the wait at most. A sleep is shorter than what the library takes for the turn of
 * another (LONG_US of src/base/yielding.c). */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef unsigned progress(void *worker);
progress ucp_worker_progress;

enum {
    OFTEN = 20,    /* yields in a row, before the first sleep: what is near is not slept over */
    APART = 10000, /* nanoseconds from one to the next: more than a look at all that may come */
    SLEEP = 50000, /* nanoseconds; or */
    PART = 4,      /* this part of the time since the first of the yields in a row, */
    LONG = 200000, /* at most */
    SLACK = 1000,  /* of the timer, which the kernel would make as long as the sleep */
};

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void sleep_after(long waited)
{
    long sleep = waited / PART;
    if (sleep < SLEEP)
        sleep = SLEEP;
    if (sleep > LONG)
        sleep = LONG;
    prctl(PR_SET_TIMERSLACK, SLACK);
    nanosleep(&(struct timespec){.tv_nsec = sleep}, NULL);
}

int sched_yield(void)
{
    static _Thread_local int in_a_row;
    static _Thread_local long first, last;
    const long now = now_ns();
    if (now - last > APART) {
        in_a_row = 0;
        first = now;
    }
    if (in_a_row < OFTEN) {
        in_a_row++;
        syscall(SYS_sched_yield); /* which never fails */
    } else {
        sleep_after(now - first);
    }
    last = now_ns();
    return 0;
}

unsigned ucp_worker_progress(void *worker)
{
    static progress *_Atomic next; /* threads that find it at the same time find the same */
    if (next == NULL)
        next = (progress *)dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (next == NULL) { /* Python opens the MPI, and what that needs, by itself */
        void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (ucp == NULL) /* it has another name, and is not found */
            abort();
        next = (progress *)dlsym(ucp, "ucp_worker_progress");
    }
    const unsigned done = next(worker);
    if (done == 0)
        sched_yield();
    return done;
}
