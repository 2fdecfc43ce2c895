/* SPDX-License-Identifier: BSD-3-Clause */
/* packing.c - see packing.h. */
#include "core/packing.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/ask.h"
#include "core/call.h"
#include "core/data.h"
#include "core/runs.h"

enum { PIECE = 1 << 30 }; /* bytes packed at once, where elements are smaller: MPI counts in int */

/* MPICH packs nothing at MPI_BOTTOM, a null pointer to it: the same elements, seen from another
 * address. */
static int from_bottom(int count, MPI_Datatype type, char *base, MPI_Datatype *shifted)
{
    MPI_Aint here;
    PMPI_Get_address(base, &here);
    int rc = PMPI_Type_create_hindexed(1, (const int[]){count}, (const MPI_Aint[]){-here}, type,
                                       shifted);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_commit(shifted);
    return rc;
}

/* At most PIECE bytes, or one element. */
static int pack_piece(char *to, int bytes, void *at, int count, MPI_Datatype type, bool back)
{
    char base = 0;
    int position = 0;
    MPI_Datatype shifted = MPI_DATATYPE_NULL;
    if (at == MPI_BOTTOM) {
        const int rc = from_bottom(count, type, &base, &shifted);
        if (rc != MPI_SUCCESS)
            return rc;
        at = &base;
        count = 1;
        type = shifted;
    }
    const MPI_Comm comm = cco_ask_any_comm();
    const int rc = back ? PMPI_Unpack(to, bytes, &position, at, count, type, comm)
                        : PMPI_Pack(at, count, type, to, bytes, &position, comm);
    if (shifted != MPI_DATATYPE_NULL)
        PMPI_Type_free(&shifted);
    return rc;
}

/* By the MPI. */
static int pack_by_pieces(char *packed, void *at, size_t count, MPI_Datatype type, bool back)
{
    const size_t size = (size_t)cco_type_size(type);
    const size_t most = size > 0 && size < PIECE ? PIECE / size : 1;
    MPI_Aint low, extent = 0;
    if (size == 0)
        return MPI_SUCCESS;
    int rc = PMPI_Type_get_extent(type, &low, &extent);
    for (size_t i = 0; i < count && rc == MPI_SUCCESS; i += most) {
        const size_t n = count - i < most ? count - i : most;
        char *place = (char *)at + (MPI_Aint)i * extent;
        rc = size > INT_MAX
                 ? cco_type_move_huge(packed + i * size, place, type, back)
                 : pack_piece(packed + i * size, (int)(n * size), place, (int)n, type, back);
    }
    return rc;
}

static int pack(char *packed, void *at, size_t count, MPI_Datatype type, bool back)
{
    if (type == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    if (count == 0)
        return MPI_SUCCESS;
    const cco_runs *runs = cco_runs_of(type);
    if (runs == NULL)
        return pack_by_pieces(packed, at, count, type, back);
    if (back)
        cco_runs_unpack(runs, at, packed, count);
    else
        cco_runs_pack(runs, packed, at, count);
    return MPI_SUCCESS;
}

int cco_type_pack(char *to, const void *from, size_t count, MPI_Datatype type)
{
    return pack(to, (void *)(uintptr_t)from, count, type, false);
}

int cco_type_unpack(void *to, size_t count, MPI_Datatype type, const char *from)
{
    return pack((char *)(uintptr_t)from, to, count, type, true);
}
