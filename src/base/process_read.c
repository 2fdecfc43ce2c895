/* SPDX-License-Identifier: BSD-3-Clause */
/* process_read.c - see process_read.h. */
#define _GNU_SOURCE
#include "base/process_read.h"

#include <errno.h>
#include <linux/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 30 }; /* bytes of a read: the kernel stops below 2 GiB */

/* By its number: the function came with glibc 2.25, and the wheel asks for less. */
static uint64_t some_word(void)
{
    uint64_t word = 0;
    struct timespec now;
    if (syscall(SYS_getrandom, &word, sizeof word, GRND_NONBLOCK) == (long)sizeof word && word != 0)
        return word;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec << 32) ^ (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 40);
}

/* Threads may ask at the same time: what one has told stays. */
cco_process_id cco_process_me(void)
{
    static uint64_t word;
    uint64_t before = 0;
    if (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0)
        __atomic_compare_exchange_n(&word, &before, some_word(), false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    return (cco_process_id){getpid(), (uint64_t)(uintptr_t)&word,
                            __atomic_load_n(&word, __ATOMIC_RELAXED)};
}

/* One read of at most `n` bytes; how many came, or -1 with errno. */
static ssize_t read_some(const cco_process_id *process, uint64_t from, char *to, size_t n)
{
    uint64_t word = ~process->word;
    const struct iovec local[] = {{&word, sizeof word}, {to, n}};
    const struct iovec remote[] = {{(void *)(uintptr_t)process->at, sizeof word},
                                   {(void *)(uintptr_t)from, n}};
    const unsigned long vectors = n > 0 ? 2 : 1;
    const ssize_t got = process_vm_readv((pid_t)process->number, local, vectors, remote, vectors,
                                         0);
    if (got < 0)
        return -1;
    if (got >= (ssize_t)sizeof word && word == process->word)
        return got - (ssize_t)sizeof word;
    errno = got < (ssize_t)sizeof word ? EFAULT : ESRCH;
    return -1;
}

bool cco_process_readable(const cco_process_id *process)
{
    return read_some(process, 0, NULL, 0) == 0;
}

size_t cco_process_read(const cco_process_id *process, uint64_t from, char *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const size_t now = n - done < AT_ONCE ? n - done : AT_ONCE;
        const ssize_t got = read_some(process, from + done, to + done, now);
        if (got == 0)
            errno = EFAULT;
        if (got <= 0 && errno != EINTR)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}
