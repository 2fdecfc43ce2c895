/* SPDX-License-Identifier: BSD-3-Clause */
/* ulfm.c - see ulfm.h. */
#define _GNU_SOURCE
#include "mpi/ulfm.h"

#include <dlfcn.h>
#include <string.h>

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

#if defined(MPIX_ERR_PROC_FAILED)
#define HAS_CLASSES 1
#else
#define HAS_CLASSES 0
#define MPIX_ERR_PROC_FAILED MPI_ERR_OTHER
#define MPIX_ERR_PROC_FAILED_PENDING MPI_ERR_OTHER
#define MPIX_ERR_REVOKED MPI_ERR_OTHER
#endif

static struct {
    int (*revoke)(MPI_Comm comm);
    int (*is_revoked)(MPI_Comm comm, int *flag);
    int (*ack)(MPI_Comm comm);
    int (*get_failed)(MPI_Comm comm, MPI_Group *group);
    int (*shrink)(MPI_Comm comm, MPI_Comm *made);
    int (*agree)(MPI_Comm comm, int *flag);
} mpi;

static enum { UNKNOWN, OFF, ON } known;

static bool ulfm_find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_all(void)
{
    return ulfm_find("PMPIX_Comm_revoke", &mpi.revoke) &&
           ulfm_find("PMPIX_Comm_is_revoked", &mpi.is_revoked) &&
           ulfm_find("PMPIX_Comm_failure_ack", &mpi.ack) &&
           ulfm_find("PMPIX_Comm_get_failed", &mpi.get_failed) &&
           ulfm_find("PMPIX_Comm_shrink", &mpi.shrink) && ulfm_find("PMPIX_Comm_agree", &mpi.agree);
}

static bool mpi_says_so(void)
{
#if defined(MPIX_FT)
    int *value = NULL, found = 0, begun = 0;
    return PMPI_Initialized(&begun) == MPI_SUCCESS && begun &&
           PMPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &value, &found) == MPI_SUCCESS && found &&
           value != NULL && *value;
#else
    return false;
#endif
}

bool cco_ulfm(void)
{
    int now = __atomic_load_n((int *)&known, __ATOMIC_ACQUIRE);
    if (now == UNKNOWN) {
        now = mpi_says_so() && find_all() ? ON : OFF;
        __atomic_store_n((int *)&known, now, __ATOMIC_RELEASE);
    }
    return now == ON;
}

int cco_ulfm_failed_class(void)
{
    return MPIX_ERR_PROC_FAILED;
}

int cco_ulfm_revoked_class(void)
{
    return MPIX_ERR_REVOKED;
}

int cco_ulfm_class(int error)
{
    int class = MPI_SUCCESS;
    if (error == MPI_SUCCESS || !HAS_CLASSES || PMPI_Error_class(error, &class) != MPI_SUCCESS)
        return MPI_SUCCESS;
    if (class == MPIX_ERR_PROC_FAILED_PENDING)
        return MPIX_ERR_PROC_FAILED;
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ? class : MPI_SUCCESS;
}

void cco_ulfm_revoke(MPI_Comm comm)
{
    if (cco_ulfm())
        mpi.revoke(comm);
}

bool cco_ulfm_revoked(MPI_Comm comm)
{
    int flag = 0;
    return cco_ulfm() && mpi.is_revoked(comm, &flag) == MPI_SUCCESS && flag;
}

void cco_ulfm_acknowledge(MPI_Comm comm)
{
    if (cco_ulfm())
        mpi.ack(comm);
}

int cco_ulfm_shrink(MPI_Comm comm, MPI_Comm *made)
{
    return cco_ulfm() ? mpi.shrink(comm, made) : MPI_ERR_UNSUPPORTED_OPERATION;
}

int cco_ulfm_agree(MPI_Comm comm, int *flag)
{
    return cco_ulfm() ? mpi.agree(comm, flag) : MPI_ERR_UNSUPPORTED_OPERATION;
}

/* The failures that this rank knows of; MPI_GROUP_NULL for none. */
static MPI_Group failed_group(MPI_Comm comm)
{
    MPI_Group failed = MPI_GROUP_NULL;
    int n = 0;
    if (!cco_ulfm() || mpi.get_failed(comm, &failed) != MPI_SUCCESS)
        return MPI_GROUP_NULL;
    if (PMPI_Group_size(failed, &n) == MPI_SUCCESS && n > 0)
        return failed;
    PMPI_Group_free(&failed);
    return MPI_GROUP_NULL;
}

int cco_ulfm_failed(MPI_Comm comm, int *ranks, int most)
{
    int n = 0;
    MPI_Group all, failed = failed_group(comm);
    if (failed == MPI_GROUP_NULL)
        return 0;
    PMPI_Group_size(failed, &n);
    n = n < most ? n : most;
    if (PMPI_Comm_group(comm, &all) == MPI_SUCCESS) {
        for (int i = 0; i < n; i++)
            PMPI_Group_translate_ranks(failed, 1, &i, all, &ranks[i]);
        PMPI_Group_free(&all);
    } else {
        n = 0;
    }
    PMPI_Group_free(&failed);
    return n;
}

int cco_ulfm_first_failed(MPI_Comm comm)
{
    int rank;
    return cco_ulfm_failed(comm, &rank, 1) > 0 ? rank : -1;
}

bool cco_ulfm_all_alive(MPI_Comm comm)
{
    if (!cco_ulfm())
        return true;
    int alive = cco_ulfm_first_failed(comm) < 0;
    mpi.ack(comm); /* otherwise to agree is an error */
    return mpi.agree(comm, &alive) == MPI_SUCCESS && alive;
}

void cco_ulfm_give_up(MPI_Request *request)
{
    int over = 0;
    PMPI_Cancel(request);
    if (!cco_ulfm())
        PMPI_Request_free(request);
    else /* a receive that nothing has come for is over now, and freed */
        PMPI_Test(request, &over, MPI_STATUS_IGNORE);
    *request = MPI_REQUEST_NULL;
}
