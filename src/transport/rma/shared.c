/* SPDX-License-Identifier: BSD-3-Clause */
/* shared.c - see shared.h. */
#include "transport/rma/shared.h"

#include <stdlib.h>
#include <string.h>

#include "core/wait.h"

enum { LOOKS = 64 }; /* one of so many lets the MPI get on with what others began before */

static cco_window *of(cco_area *area)
{
    return (cco_window *)area; /* its first member */
}

static int put(cco_area *area, int peer, size_t at, const void *from, size_t n)
{
    memcpy(of(area)->shares[peer] + at, from, n);
    return MPI_SUCCESS;
}

static int get(cco_area *area, int peer, size_t at, void *to, size_t n)
{
    memcpy(to, of(area)->shares[peer] + at, n);
    return MPI_SUCCESS;
}

static int complete(cco_area *area, int peer)
{
    (void)area, (void)peer;
    return MPI_SUCCESS;
}

static int tell(cco_area *area, int peer, size_t at, uint32_t word)
{
    char *to = of(area)->shares[peer] + at;
    __atomic_store_n((uint32_t *)(void *)to, word, __ATOMIC_RELEASE);
    return MPI_SUCCESS;
}

/* Words are read with acquire semantics by who looks for them. */
static int look(cco_area *area)
{
    cco_window *w = of(area);
    int flag;
    if (++w->looks % LOOKS != 0)
        return MPI_SUCCESS;
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->comm, &flag, MPI_STATUS_IGNORE);
}

const cco_area_kind cco_window_shared = {
    .name = "shared", .put = put, .get = get, .complete = complete, .tell = tell, .look = look};

bool cco_window_can_share(MPI_Comm comm)
{
    int ranks, here = -1;
    MPI_Comm node = MPI_COMM_NULL;
    PMPI_Comm_size(comm, &ranks);
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        PMPI_Comm_size(node, &here);
        PMPI_Comm_free(&node);
    }
    return cco_all(here == ranks, comm);
}

int cco_window_share(cco_window *w, size_t bytes, MPI_Comm comm, void **base)
{
    int ranks;
    MPI_Info apart; /* each share on pages of its own, which its owner touches first */
    PMPI_Comm_size(comm, &ranks);
    PMPI_Info_create(&apart);
    PMPI_Info_set(apart, "alloc_shared_noncontig", "true");
    w->shares = calloc((size_t)ranks, sizeof *w->shares);
    int rc = PMPI_Win_allocate_shared((MPI_Aint)bytes, 1, apart, comm, base, &w->win);
    PMPI_Info_free(&apart);
    if (w->shares == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < ranks && rc == MPI_SUCCESS; i++) {
        MPI_Aint its;
        int unit;
        void *where = NULL;
        rc = PMPI_Win_shared_query(w->win, i, &its, &unit, &where);
        w->shares[i] = where;
    }
    return rc;
}
