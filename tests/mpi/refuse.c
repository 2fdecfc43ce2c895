/* SPDX-License-Identifier: BSD-3-Clause */
/* refuse.c - see refuse.h. */
#include "refuse.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A system call fails with an error; all others go on. */
static bool refuse_call(long number, unsigned error)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
           syscall(number, -1, 0, 0, 0, 0, 0) == -1 && errno == (int)error;
}

static bool refuse_size(void)
{
    return setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, RLIM_INFINITY}) == 0;
}

/* As in a program that has as many files open as it may. */
static bool refuse_descriptors(void)
{
    struct rlimit limit;
    const int first = dup(0);
    if (first < 0 || close(first) != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    limit.rlim_cur = (rlim_t)first;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* What a process of another user would meet; root must give up its rights for that. */
static bool refuse_files(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && syscall(SYS_capset, &head, none) == 0;
}

static void nothing(int signal)
{
    (void)signal;
}

/* As a profiler does, but more often. */
static bool refuse_peace(void)
{
    const struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    const struct timespec often = {.tv_nsec = 100 * 1000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    timer_t timer;
    return sigaction(SIGPROF, &action, NULL) == 0 &&
           timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &(struct itimerspec){often, often}, NULL) == 0;
}

bool refuse(const char *what)
{
    if (strcmp(what, "memfd") == 0)
        return refuse_call(SYS_memfd_create, EPERM);
    if (strcmp(what, "size") == 0)
        return refuse_size();
    if (strcmp(what, "descriptors") == 0)
        return refuse_descriptors();
    if (strcmp(what, "pages") == 0)
        return refuse_call(SYS_fallocate, ENOSPC);
    if (strcmp(what, "files") == 0)
        return refuse_files();
    if (strcmp(what, "peace") == 0)
        return refuse_peace();
    return strcmp(what, "copy") == 0 && refuse_call(SYS_process_vm_readv, EPERM) &&
           refuse_call(SYS_process_vm_writev, EPERM);
}
