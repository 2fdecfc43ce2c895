/* SPDX-License-Identifier: BSD-3-Clause */
/* late_calls.c - preloaded behind the library: the MPI's alltoall as model mpi calls it
 * (LATE=alltoall), or as model nonblock does (LATE=ialltoall), takes a millisecond more, so that a
 * test knows which implementation is the best. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void be_late(const char *call)
{
    const struct timespec nap = {.tv_nsec = 1000 * 1000}; /* some hundred of these calls */
    const char *late = getenv("LATE");
    if (late != NULL && strcmp(late, call) == 0)
        nanosleep(&nap, NULL);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    be_late("alltoall");
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Ialltoall");
    be_late("ialltoall");
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}
