/* SPDX-License-Identifier: BSD-3-Clause */
/* threads_locks.c - counts the locks that calls take: pthread_mutex_lock is this program's, and
 * calls the C library's.  Those of other threads do not count: a progress thread takes one when it
 * goes to sleep, whenever that is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "threads.h"

static int counting;
static __thread int in_calls; /* this thread makes those that are counted */
static uintptr_t from, to;    /* where the code of crestacoll is */
static unsigned long taken[TAKERS], waited[TAKERS];

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    if (strstr(info->dlpi_name, "libcrestacoll") == NULL)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            to = from + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

void locks_of_calls(int begin)
{
    in_calls = begin;
}

struct counts locks_count(int on)
{
    struct counts c;
    if (to == 0)
        dl_iterate_phdr(find, NULL);
    __atomic_store_n(&counting, on, __ATOMIC_SEQ_CST);
    for (int i = 0; i < TAKERS; i++) {
        c.taken[i] = (double)__atomic_exchange_n(&taken[i], 0, __ATOMIC_RELAXED);
        c.waited[i] = (double)__atomic_exchange_n(&waited[i], 0, __ATOMIC_RELAXED);
    }
    c.switches = 0;
    return c;
}

static int (*next(int (**known)(pthread_mutex_t *), const char *name))(pthread_mutex_t *)
{
    if (*known == NULL)
        *(void **)known = dlsym(RTLD_NEXT, name);
    return *known;
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*lock)(pthread_mutex_t *), (*try)(pthread_mutex_t *);
    if (!in_calls || !__atomic_load_n(&counting, __ATOMIC_RELAXED))
        return next(&lock, "pthread_mutex_lock")(mutex);
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    const int taker = caller >= from && caller < to ? OURS : OTHERS;
    __atomic_add_fetch(&taken[taker], 1, __ATOMIC_RELAXED);
    if (next(&try, "pthread_mutex_trylock")(mutex) == 0)
        return 0;
    __atomic_add_fetch(&waited[taker], 1, __ATOMIC_RELAXED);
    return next(&lock, "pthread_mutex_lock")(mutex);
}
