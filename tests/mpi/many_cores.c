/* SPDX-License-Identifier: BSD-3-Clause */
/* many_cores.c - preloaded: a kernel for 4096 cores, which refuses to tell what a process may use
 * in a set of 1024. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 4096 / 8 };

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    if (bytes < BYTES) {
        errno = EINVAL;
        return -1;
    }
    const long known = syscall(SYS_sched_getaffinity, process, bytes, set);
    if (known < 0)
        return -1;
    memset((char *)set + known, 0, bytes - (size_t)known);
    return 0;
}
