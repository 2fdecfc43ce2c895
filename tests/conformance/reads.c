/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.c - see reads.h. */
#define _GNU_SOURCE
#include "reads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct reads reads;

/* What the kernel does elsewhere: one in so many reads fails, or finds another process under the
 * number; others stop early. */
ssize_t process_vm_readv(pid_t process, const struct iovec *local, unsigned long locals,
                         const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    static const int errors[] = {EFAULT, EFAULT, EFAULT, EPERM, ESRCH};
    const int failing = reads.failing;
    bool other = false;
    ssize_t came = 0;
    (void)process, (void)remotes, (void)flags;
    reads.count++;
    if (failing > 0 && rand() % failing == 0) {
        reads.failed++;
        other = rand() % 4 == 0;
        errno = errors[(size_t)rand() % (sizeof errors / sizeof errors[0])];
        if (!other)
            return -1;
    }
    for (unsigned long i = 0; i < locals; i++) {
        size_t n = local[i].iov_len;
        if (i > 0 && rand() % 3 == 0) {
            n = (size_t)rand() % (n + (failing == 0)); /* nothing at all is a failure */
            n += failing == 0 && n == 0;
            reads.partial += n < local[i].iov_len;
        }
        memcpy(local[i].iov_base, remote[i].iov_base, n);
        if (other)
            memset(local[i].iov_base, 0x55, n);
        came += (ssize_t)n;
    }
    if (reads.after != NULL)
        reads.after();
    reads.after = NULL;
    return came;
}
