/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_send.c - a copy of the send buffer of a call, of the same shape: only its address changes.
 *
 * What lies between the blocks takes room in the copy, but is not read. */
#include "progress/copies_send.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "plan/buffers.h"

enum { PIECE = 1 << 16 }; /* bytes that pass through packed memory at once */

/* A block of the send buffer. */
typedef struct block {
    MPI_Datatype type;
    MPI_Count count;
    MPI_Aint at, next;           /* from the buffer's address: of its first element, behind it */
    MPI_Aint extent, low, reach; /* of its type */
} block;

static bool read_here(const cco_call *c, const cco_call_shape *shape)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    if (info->in & CCO_AT_ROOT)
        return cco_call_shape_root(c, shape);
    const bool rooted = info->properties & CCO_ROOTED;
    return !(rooted && shape->inter) || (c->root != MPI_ROOT && c->root != MPI_PROC_NULL);
}

static void send_end(const cco_call *c, const cco_call_shape *shape, cco_buffer *in)
{
    const int properties = cco_coll_infos[c->coll].properties;
    int rank = shape->rank; /* by which buffers.h knows a root */
    cco_buffer out;
    if (shape->inter && properties & CCO_ROOTED)
        rank = cco_call_shape_root(c, shape) ? c->root : -1;
    if (properties & CCO_REDUCTION)
        cco_buffers_of_reduction(c, rank, shape->group, shape->near, in, &out);
    else
        cco_buffers_of_movement(c, rank, shape->peers, shape->near, in, &out);
    if (!read_here(c, shape))
        in->blocks = 0;
}

/* Block `i`; asks about its type only if that is another than that of the block before. */
static int find_block(const cco_call *c, const cco_buffer *end, int i, block *b)
{
    const MPI_Datatype type = end->types != NULL ? end->types[i] : end->type;
    MPI_Aint lower;
    b->count = end->counts != NULL ? cco_count_at(c, end->counts, i) : end->count;
    if (b->count <= 0)
        return MPI_SUCCESS;
    if (!cco_is_type(type))
        return MPI_ERR_TYPE;
    int rc = MPI_SUCCESS;
    if (b->type != type) {
        rc = PMPI_Type_get_extent(type, &lower, &b->extent);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Type_get_true_extent(type, &b->low, &b->reach);
        b->type = type;
    }
    if (end->displs == NULL)
        b->at = b->next;
    else
        b->at = cco_displ_at(c, end->displs, i) * (end->types != NULL ? 1 : b->extent);
    b->next = b->at + (MPI_Aint)b->count * b->extent;
    return rc;
}

/* The memory from the first byte of all blocks to the last. */
static int copies_send_measure(const cco_call *c, const cco_buffer *end, MPI_Aint *low,
                               MPI_Aint *high)
{
    block b = {.type = MPI_DATATYPE_NULL};
    int rc = MPI_SUCCESS;
    *low = PTRDIFF_MAX;
    *high = PTRDIFF_MIN;
    for (int i = 0; i < end->blocks && rc == MPI_SUCCESS; i++) {
        rc = find_block(c, end, i, &b);
        if (rc != MPI_SUCCESS || b.count <= 0)
            continue;
        const MPI_Aint first = b.at + b.low;
        const MPI_Aint last = first + (MPI_Aint)(b.count - 1) * b.extent;
        const MPI_Aint start = first < last ? first : last, stop = first < last ? last : first;
        *low = start < *low ? start : *low;
        *high = stop + b.reach > *high ? stop + b.reach : *high;
    }
    return rc;
}

/* Elements with gaps: by way of packed memory, so that nothing in between is touched. */
static int copy_pieces(char *to, const char *from, const block *b)
{
    const MPI_Count size = cco_type_size(b->type);
    const MPI_Count most = size < PIECE ? PIECE / (size > 0 ? size : 1) : 1;
    char *packed = malloc((size_t)(most * size) + 1);
    int rc = packed != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (MPI_Count done = 0; done < b->count && rc == MPI_SUCCESS; done += most) {
        const size_t n = (size_t)(b->count - done < most ? b->count - done : most);
        const MPI_Aint at = (MPI_Aint)done * b->extent;
        rc = cco_type_pack(packed, from + at, n, b->type);
        if (rc == MPI_SUCCESS)
            rc = cco_type_unpack(to + at, n, b->type, packed);
    }
    free(packed);
    return rc;
}

static int copies_send_copy_blocks(const cco_call *c, const cco_buffer *end, char *to)
{
    block b = {.type = MPI_DATATYPE_NULL};
    MPI_Datatype known = MPI_DATATYPE_NULL;
    bool dense = false;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < end->blocks && rc == MPI_SUCCESS; i++) {
        rc = find_block(c, end, i, &b);
        if (rc != MPI_SUCCESS || b.count <= 0)
            continue;
        if (known != b.type)
            dense = cco_type_dense(b.type);
        known = b.type;
        if (dense)
            memcpy(to + b.at, end->buffer + b.at, (size_t)(b.count * b.extent));
        else
            rc = copy_pieces(to + b.at, end->buffer + b.at, &b);
    }
    return rc;
}

int cco_copy_send(cco_call *call, const cco_call_shape *shape, char **copy)
{
    cco_buffer end;
    MPI_Aint low, high;
    send_end(call, shape, &end);
    int rc = copies_send_measure(call, &end, &low, &high);
    if (rc != MPI_SUCCESS || high <= low) /* nothing to send */
        return rc;
    *copy = malloc((size_t)(high - low));
    if (*copy == NULL)
        return MPI_ERR_NO_MEM;
    rc = copies_send_copy_blocks(call, &end, *copy - low);
    call->sendbuf = *copy - low;
    return rc;
}
