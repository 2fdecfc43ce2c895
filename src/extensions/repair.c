/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.c - CRESTA_Comm_repair: a communicator of the ranks that are left. */
#include "api/dispatch.h"
#include "base/log.h"
#include "mpi/mpi_check.h"
#include "call/raise.h"
#include "mpi/ulfm.h"

/* The old name, so that rules for it hold, and errors returned until it is ready. */
static int take_over(MPI_Comm comm, MPI_Comm made)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    int rc = PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS && PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && length > 0)
        rc = PMPI_Comm_set_name(made, name);
    return rc;
}

/* Those that are left make a communicator and prepare it; they agree on whether all of them could,
 * since one more may have failed meanwhile. */
static bool try_once(MPI_Comm comm, MPI_Comm *made, int *rc)
{
    *made = MPI_COMM_NULL;
    *rc = cco_ulfm_shrink(comm, made);
    if (*rc != MPI_SUCCESS || *made == MPI_COMM_NULL)
        return false;
    *rc = take_over(comm, *made);
    if (*rc == MPI_SUCCESS)
        *rc = CRESTA_Comm_prepare(*made);
    int all = *rc == MPI_SUCCESS;
    if (!all && cco_ulfm_class(*rc) != MPI_SUCCESS)
        cco_ulfm_revoke(*made); /* others may wait there for this rank */
    if (cco_ulfm_agree(*made, &all) == MPI_SUCCESS && all)
        return true;
    cco_ulfm_acknowledge(*made);
    PMPI_Comm_free(made);
    return false;
}

static int repair_repair(MPI_Comm comm, MPI_Comm *made)
{
    enum { TRIES = 100 }; /* each after another failure */
    int rc = MPI_SUCCESS;
    cco_ulfm_revoke(comm);
    for (int i = 0; i < TRIES; i++) {
        cco_ulfm_acknowledge(comm);
        if (try_once(comm, made, &rc))
            return MPI_SUCCESS;
        if (rc != MPI_SUCCESS && cco_ulfm_class(rc) == MPI_SUCCESS)
            return rc;
    }
    return cco_ulfm_failed_class();
}

int CRESTA_Comm_repair(MPI_Comm comm, MPI_Comm *newcomm)
{
    MPI_Errhandler handler;
    int rank = 0;
    *newcomm = MPI_COMM_NULL;
    cco_process_enter();
    if (!cco_is_intra(comm))
        return cco_refuse(comm, MPI_ERR_COMM);
    if (!cco_ulfm()) {
        PMPI_Comm_rank(comm, &rank);
        if (rank == 0)
            cco_say("CRESTA_Comm_repair: this job cannot go on after a failure: it needs Open MPI "
                    "5 and `mpirun --with-ft ulfm`");
        return cco_refuse(comm, MPI_ERR_UNSUPPORTED_OPERATION);
    }
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return cco_refuse(comm, MPI_ERR_INTERN);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const int rc = repair_repair(comm, newcomm);
    if (rc == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(*newcomm, handler);
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
    return rc == MPI_SUCCESS ? rc : cco_refuse(comm, rc);
}
