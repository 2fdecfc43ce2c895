/* SPDX-License-Identifier: BSD-3-Clause */
/* no_descriptors.c - preloaded: the thread that answers `crestacoll hang` finds twice that no file
 * descriptor is left for a connection.  If it tries again at once, it would try all the time, and
 * its process ends. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int accept4(int socket, __SOCKADDR_ARG address, socklen_t *length, int flags)
{
    static int (*next)(int, __SOCKADDR_ARG, socklen_t *, int);
    static int refused;
    static double last;
    char name[16] = "";
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "accept4");
    prctl(PR_GET_NAME, name);
    if (strcmp(name, "crestacoll-hang") != 0 || refused == 2)
        return next(socket, address, length, flags);
    const double before = last;
    last = seconds();
    if (refused++ > 0 && last - before < 0.5)
        _exit(1);
    errno = EMFILE;
    return -1;
}
