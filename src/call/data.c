/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - see data.h. */
#include "call/data.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "mpi/mpi_check.h"
#include "call/call.h"

enum { PIECE = 1 << 30 }; /* bytes packed at once, where elements are smaller: MPI counts in int */

/* A predefined type whose elements fill their extent. */
static bool named_dense(MPI_Datatype type)
{
    MPI_Aint low, extent;
    return PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS && low == 0 &&
           extent == cco_type_size(type);
}

/* Nobody can free a type of the standard, nor one that MPI_Type_create_f90_real and its like gave:
 * it is one of the standard's, without a name. */
static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

#if defined(CRESTA_HAVE_LARGE_COUNT)
int cco_type_combiner(MPI_Datatype type)
{
    MPI_Count integers, addresses, counts, types;
    int combiner = -1;
    const int rc = PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types,
                                            &combiner);
    return rc == MPI_SUCCESS ? combiner : -1;
}

/* The type that a duplicate or contiguous type is made of; its caller frees what is not predefined.
 */
static bool made_of(MPI_Datatype type, MPI_Datatype *inner)
{
    MPI_Count integers, addresses, counts, types, large;
    int combiner, count;
    return PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner) ==
               MPI_SUCCESS &&
           (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP) &&
           PMPI_Type_get_contents_c(type, integers, 0, counts, 1, &count, NULL, &large, inner) ==
               MPI_SUCCESS;
}
#else
int cco_type_combiner(MPI_Datatype type)
{
    int integers, addresses, types, combiner = -1;
    const int rc = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return rc == MPI_SUCCESS ? combiner : -1;
}

static bool made_of(MPI_Datatype type, MPI_Datatype *inner)
{
    const int combiner = cco_type_combiner(type);
    int count;
    return (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP) &&
           PMPI_Type_get_contents(type, combiner == MPI_COMBINER_CONTIGUOUS ? 1 : 0, 0, 1, &count,
                                  NULL, inner) == MPI_SUCCESS;
}
#endif

bool cco_type_predefined(MPI_Datatype type)
{
    return cco_is_type(type) && is_predefined(cco_type_combiner(type));
}

bool cco_type_derived(MPI_Datatype type)
{
    return cco_is_type(type) && !is_predefined(cco_type_combiner(type));
}

bool cco_op_predefined(MPI_Op op)
{
    return op == MPI_SUM || op == MPI_MAX || op == MPI_MIN || op == MPI_PROD || op == MPI_LAND ||
           op == MPI_LOR || op == MPI_BAND || op == MPI_BOR || op == MPI_LXOR || op == MPI_BXOR ||
           op == MPI_MINLOC || op == MPI_MAXLOC;
}

bool cco_op_reserved(MPI_Op op)
{
    return cco_op_predefined(op) || op == MPI_REPLACE || op == MPI_NO_OP;
}

bool cco_type_dense(MPI_Datatype type)
{
    MPI_Datatype inner;
    if (!cco_is_type(type))
        return false;
    if (is_predefined(cco_type_combiner(type)))
        return named_dense(type);
    if (!made_of(type, &inner))
        return false;
    const bool dense = cco_type_dense(inner);
    if (!cco_type_predefined(inner))
        PMPI_Type_free(&inner);
    return dense;
}

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
    const MPI_Comm comm = cco_mpi_check_any_comm();
    const int rc = back ? PMPI_Unpack(to, bytes, &position, at, count, type, comm)
                        : PMPI_Pack(at, count, type, to, bytes, &position, comm);
    if (shifted != MPI_DATATYPE_NULL)
        PMPI_Type_free(&shifted);
    return rc;
}

int cco_type_move_huge(char *packed, void *at, MPI_Datatype type, bool back)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const MPI_Comm comm = cco_mpi_check_comm(); /* nobody else's messages are there */
    MPI_Datatype bytes;
    if (comm == MPI_COMM_NULL)
        return MPI_ERR_COUNT;
    int rc = cco_wide_type((size_t)cco_type_size(type), MPI_BYTE, INT_MAX, &bytes);
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&lock);
    rc = PMPI_Sendrecv(back ? packed : at, 1, back ? bytes : type, 0, 0, back ? at : packed, 1,
                       back ? type : bytes, 0, 0, comm, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&lock);
    PMPI_Type_free(&bytes);
    return rc;
}

static int data_pack(char *packed, void *at, size_t count, MPI_Datatype type, bool back)
{
    const size_t size = (size_t)cco_type_size(type);
    const size_t most = size > 0 && size < PIECE ? PIECE / size : 1;
    MPI_Aint low, extent = 0;
    if (!cco_is_type(type))
        return MPI_ERR_TYPE;
    if (count == 0 || size == 0)
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

int cco_type_pack(char *to, const void *from, size_t count, MPI_Datatype type)
{
    return data_pack(to, (void *)(uintptr_t)from, count, type, false);
}

int cco_type_unpack(void *to, size_t count, MPI_Datatype type, const char *from)
{
    return data_pack((char *)(uintptr_t)from, to, count, type, true);
}

/* `q` pieces of `limit` elements, and what is left, behind them. */
static int data_chain(MPI_Datatype piece, MPI_Datatype rest, int q, MPI_Aint extent,
                      MPI_Datatype *wide)
{
    MPI_Datatype pieces;
    int rc = PMPI_Type_contiguous(q, piece, &pieces);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Type_create_struct(2, (const int[]){1, 1}, (const MPI_Aint[]){0, q * extent},
                                 (const MPI_Datatype[]){pieces, rest}, wide);
    PMPI_Type_free(&pieces);
    return rc;
}

int cco_wide_type(size_t count, MPI_Datatype type, size_t limit, MPI_Datatype *wide)
{
    MPI_Datatype piece, rest;
    MPI_Aint low, extent;
    int rc = PMPI_Type_contiguous((int)limit, type, &piece);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = PMPI_Type_contiguous((int)(count % limit), type, &rest);
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Type_get_extent(type, &low, &extent);
        if (rc == MPI_SUCCESS)
            rc = data_chain(piece, rest, (int)(count / limit), (MPI_Aint)limit * extent, wide);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Type_commit(wide);
        PMPI_Type_free(&rest);
    }
    PMPI_Type_free(&piece);
    return rc;
}
