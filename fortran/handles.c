/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.c - see handles.h.
 *
 * Fortran's MPI_IN_PLACE and MPI_BOTTOM are variables that a program names by address.  The
 * references are weak: a C program has no Fortran library, and then nothing has their address. */
#include "handles.h"

#include <stdlib.h>

#include "split/request_data.h"
#include "call/degrees.h"
#include "base/log.h"

#if defined(OPEN_MPI)
/* One common block, in the spelling of each family of compilers; mpi_f08 names the same one. */
#define CCO_SENTINEL(name, upper)                                                                  \
    extern int name __attribute__((weak)), name##_ __attribute__((weak)),                          \
        name##__ __attribute__((weak)), upper __attribute__((weak));
CCO_SENTINEL(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)
CCO_SENTINEL(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)
CCO_SENTINEL(mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE)

static int is_in_place(const void *a)
{
    return a == &mpi_fortran_in_place_ || a == &mpi_fortran_in_place ||
           a == &mpi_fortran_in_place__ || a == &MPI_FORTRAN_IN_PLACE;
}

static int is_bottom(const void *a)
{
    return a == &mpi_fortran_bottom_ || a == &mpi_fortran_bottom || a == &mpi_fortran_bottom__ ||
           a == &MPI_FORTRAN_BOTTOM;
}

bool cco_f_ignores_status(const MPI_Fint *status)
{
    return (const void *)status == &mpi_fortran_status_ignore_ ||
           (const void *)status == &mpi_fortran_status_ignore ||
           (const void *)status == &mpi_fortran_status_ignore__ ||
           (const void *)status == &MPI_FORTRAN_STATUS_IGNORE;
}
#else
/* mpi_f08 has variables of its own; mpif.h and `use mpi` a common block, whose address MPICH keeps
 * in a pointer. */
extern int MPIR_F08_MPI_IN_PLACE __attribute__((weak)), MPIR_F08_MPI_BOTTOM __attribute__((weak));
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak)), *MPIR_F_MPI_BOTTOM __attribute__((weak));

static int is_in_place(const void *a)
{
    return a == &MPIR_F08_MPI_IN_PLACE ||
           (&MPIR_F_MPI_IN_PLACE != NULL && a == MPIR_F_MPI_IN_PLACE);
}

static int is_bottom(const void *a)
{
    return a == &MPIR_F08_MPI_BOTTOM || (&MPIR_F_MPI_BOTTOM != NULL && a == MPIR_F_MPI_BOTTOM);
}
#endif

void *cco_f_address(void *address)
{
    if (address == NULL)
        return NULL;
    if (is_in_place(address))
        return MPI_IN_PLACE;
    return is_bottom(address) ? MPI_BOTTOM : address;
}

static int peers(MPI_Comm comm)
{
    int inter = 0, size = 0;
    if (comm == MPI_COMM_NULL) /* the call says so, in its own name */
        return 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

enum { HANDLES_EQUAL = sizeof(MPI_Datatype) == sizeof(MPI_Fint) }; /* MPICH: the same integers */

static MPI_Datatype *c_handles(MPI_Fint *types, int count)
{
    if (HANDLES_EQUAL)
        return (MPI_Datatype *)(void *)types;
    MPI_Datatype *c_types = malloc((size_t)count * sizeof *c_types + 1);
    if (c_types == NULL)
        cco_fatal("no memory for the datatypes of an alltoallw");
    for (int i = 0; i < count; i++)
        c_types[i] = PMPI_Type_f2c(types[i]);
    return c_types;
}

MPI_Datatype *cco_f_types(MPI_Fint *types, MPI_Comm comm, void *sendbuf, int sending)
{
    const bool none = sending && cco_f_address(sendbuf) == MPI_IN_PLACE;
    return none ? NULL : c_handles(types, HANDLES_EQUAL ? 0 : peers(comm));
}

MPI_Datatype *cco_f_near_types(MPI_Fint *types, MPI_Comm comm, int sending)
{
    const bool unused = HANDLES_EQUAL || comm == MPI_COMM_NULL;
    const cco_degrees degrees = unused ? (cco_degrees){0} : cco_degrees_of(comm);
    return c_handles(types, sending ? degrees.out : degrees.in);
}

void cco_f_free_types(MPI_Datatype *c_types, MPI_Fint *types)
{
    if ((void *)c_types != (void *)types)
        free(c_types);
}

/* Without the memory to remember them they stay. */
void cco_f_keep_types(MPI_Datatype *c_sendtypes, MPI_Fint *sendtypes, MPI_Datatype *c_recvtypes,
                      MPI_Fint *recvtypes, MPI_Request request)
{
    void *const send = (void *)c_sendtypes == (void *)sendtypes ? NULL : c_sendtypes;
    void *const recv = (void *)c_recvtypes == (void *)recvtypes ? NULL : c_recvtypes;
    cco_copies *copies = send != NULL || recv != NULL ? calloc(1, sizeof *copies) : NULL;
    cco_request_data *pending = copies != NULL ? cco_request_data_make(copies) : NULL;
    if (pending == NULL) {
        free(copies);
        return;
    }
    copies->types[0] = send;
    copies->types[1] = recv;
    cco_request_data_add(pending, false, false, request);
}
