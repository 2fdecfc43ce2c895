/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_comms.c - src/interpose/comms.c for Fortran, where these calls do not pass the C names:
 * all bindings of Open MPI, mpi_f08 of MPICH. */
#include "core/mpi_compat.h"
#include "handles.h"

#pragma GCC visibility push(default)

static void end(int (*call)(MPI_Comm *), MPI_Fint *comm, MPI_Fint *ierror)
{
    MPI_Comm c = PMPI_Comm_f2c(*comm);
    const int rc = call(&c);
    if (rc == MPI_SUCCESS)
        *comm = PMPI_Comm_c2f(c);
    cco_f_return(ierror, rc);
}

#if defined(OPEN_MPI)
#define ENTRY(name, NAME, call)                                                                    \
    void mpi_##name##_(MPI_Fint *comm, MPI_Fint *ierror)                                           \
    {                                                                                              \
        end(call, comm, ierror);                                                                   \
    }                                                                                              \
    void mpi_##name(MPI_Fint *comm, MPI_Fint *ierror) __attribute__((alias("mpi_" #name "_")));    \
    void mpi_##name##__(MPI_Fint *comm, MPI_Fint *ierror)                                          \
        __attribute__((alias("mpi_" #name "_")));                                                  \
    void mpi_##name##_f08_(MPI_Fint *comm, MPI_Fint *ierror)                                       \
        __attribute__((alias("mpi_" #name "_")));                                                  \
    void MPI_##NAME(MPI_Fint *comm, MPI_Fint *ierror) __attribute__((alias("mpi_" #name "_")));
#else
#define ENTRY(name, NAME, call)                                                                    \
    void mpi_##name##_f08_(MPI_Fint *comm, MPI_Fint *ierror)                                       \
    {                                                                                              \
        end(call, comm, ierror);                                                                   \
    }
#endif

ENTRY(comm_free, COMM_FREE, MPI_Comm_free)
ENTRY(comm_disconnect, COMM_DISCONNECT, MPI_Comm_disconnect)

#pragma GCC visibility pop
