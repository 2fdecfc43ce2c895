/* SPDX-License-Identifier: BSD-3-Clause */
/* raise.c - see raise.h. */
#include "call/raise.h"

#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "call/reentry.h"

bool cco_raise_ends_job(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return false;
#if MPI_VERSION >= 4
    const bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
#else
    const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
#endif
    PMPI_Errhandler_free(&handler);
    return fatal;
}

/* The MPI's own fatal handler would name MPI_Comm_call_errhandler, which the program never called.
 */
static void raise_say(MPI_Comm comm, const char *call, int error)
{
    char name[MPI_MAX_OBJECT_NAME] = "", why[MPI_MAX_ERROR_STRING] = "";
    int rank = 0, length;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_get_name(comm, name, &length);
    PMPI_Error_string(error, why, &length);
    cco_say("error in %s on rank %d of communicator '%s': %s", call, rank, name, why);
}

int cco_refuse(MPI_Comm comm, int error_class)
{
    cco_mark_give_back();
    PMPI_Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, error_class);
    return error_class;
}

int cco_raise_said(MPI_Comm comm, int error)
{
    enum { MOMENT_NS = 200 * 1000 * 1000 }; /* launchers drop what they have not forwarded yet */
    if (cco_raise_ends_job(comm)) {
        nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
        PMPI_Abort(comm, error);
    }
    cco_mark_give_back();
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

int cco_raise(MPI_Comm comm, const char *call, int error)
{
    if (comm == MPI_COMM_NULL)
        comm = MPI_COMM_WORLD;
    if (error != MPI_ERR_UNSUPPORTED_OPERATION && cco_raise_ends_job(comm))
        raise_say(comm, call, error); /* otherwise rank 0 has said why */
    return cco_raise_said(comm, error);
}

int cco_raise_in(MPI_Comm comm, cco_coll coll, int error)
{
    char call[64];
    snprintf(call, sizeof call, "%s_%s", cco_is_ours(coll) ? "CRESTA" : "MPI",
             cco_coll_infos[coll].mpi_name);
    return cco_raise(comm, call, error);
}
