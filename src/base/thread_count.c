/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_count.c - see thread_count.h.  A thread writes here once when it first waits, and when it
 * ends. */
#include "base/thread_count.h"

#include <pthread.h>

enum { MANY = 1 << 20 }; /* cores, while nobody knows */

int cco_threads_beyond = -MANY; /* threads that count, less cores */

static int cores = MANY;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t ends;
static bool has_key;
static _Thread_local bool counted __attribute__((tls_model("initial-exec")));

static void thread_count_leave(void *data)
{
    (void)data;
    __atomic_fetch_sub(&cco_threads_beyond, 1, __ATOMIC_RELAXED);
}

static void thread_count_make_key(void)
{
    has_key = pthread_key_create(&ends, thread_count_leave) == 0;
}

void cco_threads_cores(int each)
{
    __atomic_fetch_add(&cco_threads_beyond, cores - each, __ATOMIC_RELAXED);
    cores = each;
}

void cco_threads_note(void)
{
    if (counted)
        return;
    counted = true;
    pthread_once(&once, thread_count_make_key);
    if (has_key && pthread_setspecific(ends, &ends) == 0)
        __atomic_fetch_add(&cco_threads_beyond, 1, __ATOMIC_RELAXED);
}
