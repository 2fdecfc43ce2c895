/* SPDX-License-Identifier: BSD-3-Clause */
/* dup_bare.c - see dup_bare.h. */
#include "mpi/dup_bare.h"

int cco_comm_dup_bare(MPI_Comm comm, MPI_Comm *made)
{
    MPI_Group group;
    int rc = PMPI_Comm_group(comm, &group);
    *made = MPI_COMM_NULL;
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Comm_create(comm, group, made);
        PMPI_Group_free(&group);
    }
    return rc;
}

int cco_type_dup_bare(MPI_Datatype type, MPI_Datatype *made)
{
    const int rc = PMPI_Type_contiguous(1, type, made);
    return rc == MPI_SUCCESS ? PMPI_Type_commit(made) : rc;
}
