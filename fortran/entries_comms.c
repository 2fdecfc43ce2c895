/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_comms.c - src/interpose/comms.c for Fortran, where these calls do not pass the C names:
 * all bindings of Open MPI, mpi_f08 of MPICH.  What makes a communicator goes on to the next
 * definition with its arguments, which are addresses. */
#include <string.h>

#include "process/set_up.h"
#include "mpi/mpi_compat.h"
#include "base/next.h"
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
#define FIRST(name) mpi_##name##_
#define FIRST_NAME(name) "mpi_" #name "_"
#define ALIAS(spelling, name, parameters)                                                          \
    void spelling parameters __attribute__((alias("mpi_" #name "_")));
#define ALIASES(name, NAME, parameters)                                                            \
    ALIAS(mpi_##name, name, parameters)                                                            \
    ALIAS(mpi_##name##__, name, parameters)                                                        \
    ALIAS(mpi_##name##_f08_, name, parameters)                                                     \
    ALIAS(MPI_##NAME, name, parameters)
#else
#define FIRST(name) mpi_##name##_f08_
#define FIRST_NAME(name) "mpi_" #name "_f08_"
#define ALIASES(name, NAME, parameters)
#endif

#define ENDS(name, NAME, call)                                                                     \
    void FIRST(name)(MPI_Fint * comm, MPI_Fint * ierror)                                           \
    {                                                                                              \
        end(call, comm, ierror);                                                                   \
    }                                                                                              \
    ALIASES(name, NAME, (MPI_Fint * comm, MPI_Fint * ierror))

ENDS(comm_free, COMM_FREE, MPI_Comm_free)
ENDS(comm_disconnect, COMM_DISCONNECT, MPI_Comm_disconnect)

typedef void *any;

/* The next definition, called with `arguments`; then `set_up`, where that has made something. */
#define MAKES(name, NAME, parameters, arguments, set_up)                                           \
    void FIRST(name) parameters                                                                    \
    {                                                                                              \
        MPI_Fint rc = MPI_SUCCESS, *const code = ierror != NULL ? ierror : &rc;                    \
        void(*next) parameters;                                                                    \
        void *const address = cresta_next_definition(FIRST_NAME(name));                            \
        memcpy(&next, &address, sizeof next);                                                      \
        ierror = code;                                                                             \
        next arguments;                                                                            \
        if (*code == MPI_SUCCESS)                                                                  \
            set_up;                                                                                \
    }                                                                                              \
    ALIASES(name, NAME, parameters)

#define MADE cco_set_up_made(PMPI_Comm_f2c(*made))

MAKES(comm_dup, COMM_DUP, (any a, MPI_Fint *made, MPI_Fint *ierror), (a, made, ierror), MADE)
MAKES(comm_dup_with_info, COMM_DUP_WITH_INFO, (any a, any b, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, made, ierror), MADE)
MAKES(comm_split, COMM_SPLIT, (any a, any b, any c, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, c, made, ierror), MADE)
MAKES(comm_split_type, COMM_SPLIT_TYPE,
      (any a, any b, any c, any d, MPI_Fint *made, MPI_Fint *ierror), (a, b, c, d, made, ierror),
      MADE)
MAKES(comm_create, COMM_CREATE, (any a, any b, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, made, ierror), MADE)
MAKES(comm_create_group, COMM_CREATE_GROUP, (any a, any b, any c, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, c, made, ierror), MADE)
MAKES(intercomm_merge, INTERCOMM_MERGE, (any a, any b, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, made, ierror), MADE)
MAKES(cart_create, CART_CREATE,
      (any a, any b, any c, any d, any e, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, c, d, e, made, ierror), MADE)
MAKES(cart_sub, CART_SUB, (any a, any b, MPI_Fint *made, MPI_Fint *ierror), (a, b, made, ierror),
      MADE)
MAKES(graph_create, GRAPH_CREATE,
      (any a, any b, any c, any d, any e, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, c, d, e, made, ierror), MADE)
MAKES(dist_graph_create, DIST_GRAPH_CREATE,
      (any a, any b, any c, any d, any e, any f, any g, any h, MPI_Fint *made, MPI_Fint *ierror),
      (a, b, c, d, e, f, g, h, made, ierror), MADE)
MAKES(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT,
      (any a, any b, any c, any d, any e, any f, any g, any h, any i, MPI_Fint *made,
       MPI_Fint *ierror),
      (a, b, c, d, e, f, g, h, i, made, ierror), MADE)
MAKES(comm_idup, COMM_IDUP, (MPI_Fint * a, MPI_Fint *made, any request, MPI_Fint *ierror),
      (a, made, request, ierror), cco_set_up_duplicates(PMPI_Comm_f2c(*a), PMPI_Comm_f2c(*made)))

#pragma GCC visibility pop
