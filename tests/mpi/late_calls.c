/* SPDX-License-Identifier: BSD-3-Clause */
/* late_calls.c - preloaded behind the library: the MPI's alltoall as model mpi calls it
 * (LATE=alltoall), or as model nonblock does (LATE=ialltoall, LATE=iallreduce), takes longer, so
 * that a test knows which implementation is the best.  Either LATE_US microseconds, in which it
 * computes.  Or, without LATE_US, 0.2 s by the clock of this process alone, which goes forward by
 * as much in no time: that is far more than what other programs on the same cores do to a step.
 * LATE_AHEAD_US says how far the clock goes instead, and late_compute lets a program do the same.
 * LATE=crash: in an alltoall of model nonblock, others than rank 0 end that and crash. */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const long AHEAD_NS = 200000000;

static long ahead_ns; /* the clock is so much ahead */

/* Stands for that of the C library. A sanitizer asks for the time before it has set itself up. */
__attribute__((no_sanitize("address", "undefined"))) int clock_gettime(clockid_t clock,
                                                                       struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    const int rc = next(clock, now);
    const long ahead = __atomic_load_n(&ahead_ns, __ATOMIC_RELAXED);
    if (rc != 0 || clock != CLOCK_MONOTONIC || ahead == 0)
        return rc;
    const long ns = now->tv_nsec + ahead % 1000000000;
    now->tv_sec += ahead / 1000000000 + ns / 1000000000;
    now->tv_nsec = ns % 1000000000;
    return rc;
}

/* So many microseconds, by the clock of this process. */
void late_compute(double us);
void late_compute(double us)
{
    __atomic_add_fetch(&ahead_ns, (long)(1e3 * us), __ATOMIC_RELAXED);
}

/* Computes, as naps are not exact. */
static void be_late(const char *call)
{
    const char *late = getenv("LATE"), *us = getenv("LATE_US"), *ahead = getenv("LATE_AHEAD_US");
    if (late == NULL || strcmp(late, call) != 0)
        return;
    if (ahead != NULL)
        late_compute(atof(ahead));
    else if (us == NULL)
        __atomic_add_fetch(&ahead_ns, AHEAD_NS, __ATOMIC_RELAXED);
    const double begin = MPI_Wtime();
    while (us != NULL && MPI_Wtime() - begin < 1e-6 * atof(us)) {
    }
}

static int crashes(void)
{
    const char *late = getenv("LATE");
    return late != NULL && strcmp(late, "crash") == 0;
}

static int pid_of_rank_0;

/* At once, as when a launcher is fast: rank 0 writes nothing more. */
static void crash(MPI_Comm comm)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 || pid_of_rank_0 == 0)
        return;
    kill(pid_of_rank_0, SIGKILL);
    abort();
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    be_late("alltoall");
    if (crashes() && pid_of_rank_0 == 0) {
        pid_of_rank_0 = (int)getpid();
        PMPI_Bcast(&pid_of_rank_0, 1, MPI_INT, 0, comm);
    }
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Ialltoall");
    be_late("ialltoall");
    if (crashes())
        crash(comm);
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
    be_late("iallreduce");
    return next(sendbuf, recvbuf, count, datatype, op, comm, request);
}
