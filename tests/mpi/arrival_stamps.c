/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival_stamps.c - preloaded before crestacoll: when each rank came to its allreduces of one
 * element, and when it left them, by the kernel's clock.  It has nothing of crestacoll's, so that
 * what a profile says of waiting can be judged by it (tools/waiting_truth.py --stamps shim).  It
 * also sees what the library reads first from that clock in the call (--stamps library): a rank may
 * have lost its core between the two.
 *
 * ARRIVAL_STAMPS=FILE: the ranks share it; each has room for ROOM calls of three numbers, which are
 * nanoseconds: when it came, when it left, what the library read; 0 where there is none. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 16 };

static int64_t *stamps; /* of this rank */
static int made;

static int64_t *awaited; /* where the next reading of the clock goes; NULL: nowhere */

static int64_t ns(const struct timespec *t)
{
    return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

/* In place of the system's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    const int rc = next(clock, t);
    if (awaited != NULL && clock == CLOCK_MONOTONIC_RAW) {
        *awaited = ns(t);
        awaited = NULL;
    }
    return rc;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return ns(&t);
}

static void open_stamps(void)
{
    const size_t bytes = ROOM * 3 * sizeof *stamps;
    const char *name = getenv("ARRIVAL_STAMPS");
    int rank = 0, size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const int file = name != NULL ? open(name, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, (off_t)bytes * size) != 0)
        abort();
    stamps = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file,
                  (off_t)bytes * rank);
    if (stamps == MAP_FAILED)
        abort();
    close(file);
}

typedef int allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    static allreduce *next;
    if (next == NULL)
        next = (allreduce *)dlsym(RTLD_NEXT, "MPI_Allreduce");
    if (count != 1 || made == ROOM)
        return next(sendbuf, recvbuf, count, type, op, comm);
    if (stamps == NULL)
        open_stamps();
    int64_t *mine = stamps + 3 * made++;
    mine[0] = now();
    awaited = &mine[2];
    const int rc = next(sendbuf, recvbuf, count, type, op, comm);
    awaited = NULL;
    mine[1] = now();
    return rc;
}
