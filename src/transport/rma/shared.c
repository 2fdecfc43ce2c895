/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.c - see shared.h. */
#include "transport/rma/shared.h"

#include <stdlib.h>

#include "comm/channel.h"
#include "mpi/service.h"

bool cco_window_can_share(MPI_Comm comm)
{
    int ranks, here = -1;
    MPI_Comm node, copy = cco_comm_copy(comm);
    if (copy == MPI_COMM_NULL)
        return false;
    PMPI_Comm_size(comm, &ranks);
    if (PMPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        PMPI_Comm_size(node, &here);
        PMPI_Comm_free(&node);
    }
    PMPI_Comm_free(&copy);
    return cco_service_all(here == ranks, comm);
}

int cco_window_share(cco_window *w, size_t bytes, MPI_Comm comm, void **base)
{
    int ranks;
    MPI_Info apart; /* each share on pages of its own, which its owner touches first */
    PMPI_Comm_size(comm, &ranks);
    PMPI_Info_create(&apart);
    PMPI_Info_set(apart, "alloc_shared_noncontig", "true");
    w->area.shares = calloc((size_t)ranks, sizeof *w->area.shares);
    int rc = PMPI_Win_allocate_shared((MPI_Aint)bytes, 1, apart, comm, base, &w->win);
    PMPI_Info_free(&apart);
    if (w->area.shares == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < ranks && rc == MPI_SUCCESS; i++) {
        MPI_Aint its;
        int unit;
        void *where = NULL;
        rc = PMPI_Win_shared_query(w->win, i, &its, &unit, &where);
        w->area.shares[i] = where;
    }
    return rc;
}
