/* SPDX-License-Identifier: BSD-3-Clause */
/* area.c - see area.h. */
#include "transport/stream/area.h"

#include <string.h>

enum { LOOKS = 64 }; /* what others began before in the MPI can wait */

int cco_area_progress_mpi(cco_area *area, unsigned every)
{
    int flag;
    if (++area->looks % every != 0)
        return MPI_SUCCESS;
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, area->comm, &flag, MPI_STATUS_IGNORE);
}

static int area_put(cco_area *area, int peer, size_t at, const void *from, size_t n)
{
    cco_writes_copy(&area->writes, CCO_WRITES_AT_ONCE, 0, area->shares[peer] + at, from, n);
    return MPI_SUCCESS;
}

static int area_get(cco_area *area, int peer, size_t at, void *to, size_t n)
{
    memcpy(to, area->shares[peer] + at, n);
    return MPI_SUCCESS;
}

static int area_complete(cco_area *area, int peer)
{
    (void)area, (void)peer;
    return MPI_SUCCESS;
}

static int area_tell(cco_area *area, int peer, size_t at, uint32_t word)
{
    char *to = area->shares[peer] + at;
    __atomic_store_n((uint32_t *)(void *)to, word, __ATOMIC_RELEASE);
    return MPI_SUCCESS;
}

/* Words are read with acquire semantics by those that look for them. */
static int area_look(cco_area *area)
{
    return cco_area_progress_mpi(area, LOOKS);
}

static int look_only(cco_area *area)
{
    (void)area;
    return MPI_SUCCESS;
}

const cco_area_kind cco_area_direct = {.name = "direct",
                                       .put = area_put,
                                       .get = area_get,
                                       .complete = area_complete,
                                       .tell = area_tell,
                                       .look = area_look};

const cco_area_kind cco_area_quiet = {.name = "quiet",
                                      .put = area_put,
                                      .get = area_get,
                                      .complete = area_complete,
                                      .tell = area_tell,
                                      .look = look_only};
