/* SPDX-License-Identifier: BSD-3-Clause */
/* late_calls.c - preloaded behind the library: the MPI's alltoall as model mpi calls it
 * (LATE=alltoall), or as model nonblock does (LATE=ialltoall, LATE=iallreduce), takes a millisecond
 * more, or LATE_US microseconds, so that a test knows which implementation is the best. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Computes, as naps are not exact. */
static void be_late(const char *call)
{
    const char *late = getenv("LATE"), *us = getenv("LATE_US");
    const double begin = MPI_Wtime();
    if (late == NULL || strcmp(late, call) != 0)
        return;
    while (MPI_Wtime() - begin < 1e-6 * (us != NULL ? atof(us) : 1000)) {
    }
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

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Iallreduce");
    be_late("iallreduce");
    return next(sendbuf, recvbuf, count, datatype, op, comm, request);
}
