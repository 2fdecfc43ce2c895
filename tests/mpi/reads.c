/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.c - preloaded: a kernel whose reads of other processes' memory end early (READS=partial) or
 * fail now and then (READS=fail=N: every N-th with EFAULT).  Each process says at its end how often
 * that was. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned long calls, hits;

/* Two thirds of the last piece. */
static ssize_t read_part(pid_t process, const struct iovec *local, const struct iovec *remote,
                         unsigned long n)
{
    struct iovec to[2], from[2];
    memcpy(to, local, n * sizeof to[0]);
    memcpy(from, remote, n * sizeof from[0]);
    to[n - 1].iov_len = from[n - 1].iov_len = 1 + to[n - 1].iov_len * 2 / 3;
    hits++;
    return syscall(SYS_process_vm_readv, process, to, n, from, n, 0UL);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *local, unsigned long locals,
                         const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    const char *reads = getenv("READS");
    calls++;
    if (reads != NULL && strcmp(reads, "partial") == 0 && locals == 2 && remotes == 2 &&
        local[1].iov_len > 100)
        return read_part(process, local, remote, locals);
    if (reads != NULL && strncmp(reads, "fail=", 5) == 0 &&
        calls % strtoul(reads + 5, NULL, 10) == 0) {
        hits++;
        errno = EFAULT;
        return -1;
    }
    return syscall(SYS_process_vm_readv, process, local, locals, remote, remotes, flags);
}

__attribute__((destructor)) static void say(void)
{
    if (calls > 0)
        fprintf(stderr, "reads: %lu of %lu\n", hits, calls);
}
