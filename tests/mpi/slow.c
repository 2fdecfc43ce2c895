/* SPDX-License-Identifier: BSD-3-Clause */
/* slow.c - preloaded: calls of the MPI by other threads than the first take long, so that what must
 * not overlap with them would; none may be under way when the program ends the MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dlfcn.h>

static int inside;

int PMPI_Request_get_status(MPI_Request request, int *done, MPI_Status *status)
{
    int (*next)(MPI_Request, int *, MPI_Status *);
    const struct timespec nap = {.tv_nsec = 10 * 1000 * 1000};
    const int other = syscall(SYS_gettid) != getpid();
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Request_get_status");
    __atomic_fetch_add(&inside, other, __ATOMIC_SEQ_CST);
    if (other)
        nanosleep(&nap, NULL);
    const int rc = next(request, done, status);
    __atomic_fetch_sub(&inside, other, __ATOMIC_SEQ_CST);
    return rc;
}

int PMPI_Finalize(void)
{
    int (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Finalize");
    if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST)) {
        fprintf(stderr, "FAIL: a thread is in the MPI when it ends\n");
        abort();
    }
    return next();
}
