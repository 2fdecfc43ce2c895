/* SPDX-License-Identifier: BSD-3-Clause */
/* element_places.c - see element_places.h.
 *
 * MPI_Type_get_contents (MPI 4.1, section 5.1.13) says what a type was made of: blocks of elements
 * of inner types.  For distributed arrays MPI_Pack tells: memory of the extent of the type, whose
 * bytes say where they are, is packed. */
#include "window/element_places.h"

#include <stdbool.h>
#include <stdlib.h>

#include "call/call.h"
#include "call/data.h"
#include "call/type_contents.h"

/* Sizes, subsizes and starts of a subarray; dimension 0 of these is the fastest. */
typedef struct subarray {
    const MPI_Count *sizes, *subsizes, *starts;
    MPI_Count dims;
    bool backwards; /* the last one is the fastest */
} subarray;

static subarray subarray_of(const cco_type_contents *c)
{
    const MPI_Count dims = c->numbers[0], *n = c->numbers + (c->large ? 2 : 1);
    const MPI_Count order = c->large ? c->numbers[1] : n[3 * dims];
    return (subarray){n, n + dims, n + 2 * dims, dims, order == MPI_ORDER_C};
}

/* Where row number `i` begins, in elements; its length. */
static void element_places_row_of(const subarray *s, MPI_Count i, MPI_Count *at, MPI_Count *length)
{
    MPI_Count step = 1;
    *at = 0;
    for (MPI_Count k = 0; k < s->dims; k++) {
        const MPI_Count d = s->backwards ? s->dims - 1 - k : k;
        if (k == 0) {
            *length = s->subsizes[d];
            *at = s->starts[d];
        } else {
            *at += (s->starts[d] + i % s->subsizes[d]) * step;
            i /= s->subsizes[d];
        }
        step *= s->sizes[d];
    }
}

/* How many blocks there are; -1 if the constructor is none that block_of knows. */
static MPI_Count blocks_of(const cco_type_contents *c)
{
    MPI_Count rows = 1;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_CONTIGUOUS:
        return 1;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return c->numbers[0];
    case MPI_COMBINER_SUBARRAY: {
        const subarray s = subarray_of(c);
        for (MPI_Count k = 1; k < s.dims; k++)
            rows *= s.subsizes[s.backwards ? s.dims - 1 - k : k];
        return rows;
    }
    default:
        return -1;
    }
}

/* Where block number `i` begins, in bytes, and how many of the inner type it has. */
static void element_places_block_of(const cco_type_contents *c, MPI_Count i, MPI_Aint extent,
                                    MPI_Count *at, MPI_Count *length)
{
    const MPI_Count *n = c->numbers;
    *at = 0;
    *length = 1;
    switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        *length = n[0];
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        *length = n[1];
        *at = i * n[2];
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        *length = n[1 + i];
        *at = n[1 + n[0] + i];
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        *length = n[1];
        *at = n[2 + i];
        break;
    case MPI_COMBINER_SUBARRAY: {
        const subarray s = subarray_of(c);
        element_places_row_of(&s, i, at, length);
        break;
    }
    default:
        break;
    }
    if (c->combiner == MPI_COMBINER_VECTOR || c->combiner == MPI_COMBINER_INDEXED ||
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_SUBARRAY)
        *at *= extent;
}

static int element_places_make_room(cco_element_places *p)
{
    enum { FIRST = 4 };
    if (p->count < p->room)
        return MPI_SUCCESS;
    const size_t room = p->room > 0 ? 2 * p->room : FIRST;
    cco_element_run *runs = realloc(p->runs, room * sizeof *runs);
    if (runs == NULL)
        return MPI_ERR_NO_MEM;
    p->runs = runs;
    p->room = room;
    return MPI_SUCCESS;
}

/* Behind what there is, perhaps as part of the last run. */
static int add_run(cco_element_places *p, MPI_Aint at, size_t length)
{
    cco_element_run *last = p->count > 0 ? &p->runs[p->count - 1] : NULL;
    p->elements += length;
    if (last != NULL && last->at + (MPI_Aint)last->length * p->step == at) {
        last->length += length;
        return MPI_SUCCESS;
    }
    const int rc = element_places_make_room(p);
    if (rc == MPI_SUCCESS)
        p->runs[p->count++] = (cco_element_run){at, length};
    return rc;
}

/* `length` times the elements of `inner`, `extent` bytes apart. */
static int element_places_append(cco_element_places *p, const cco_element_places *inner,
                                 MPI_Aint at, MPI_Count length, MPI_Aint extent)
{
    int rc = MPI_SUCCESS;
    if (length <= 0 || inner->count == 0)
        return MPI_SUCCESS;
    if (p->basic != MPI_DATATYPE_NULL && p->basic != inner->basic)
        return MPI_ERR_TYPE;
    p->basic = inner->basic;
    p->step = inner->step;
    const cco_element_run *only = inner->count == 1 ? inner->runs : NULL;
    if (only != NULL && (MPI_Aint)only->length * inner->step == extent)
        return add_run(p, at + only->at, (size_t)length * only->length);
    for (MPI_Count i = 0; rc == MPI_SUCCESS && i < length; i++, at += extent)
        for (size_t k = 0; rc == MPI_SUCCESS && k < inner->count; k++)
            rc = add_run(p, at + inner->runs[k].at, inner->runs[k].length);
    return rc;
}

/* The elements of the inner type of block `i`, in the place of those of the one before. */
static int next_inner(const cco_type_contents *c, MPI_Count i, cco_element_places *inner,
                      MPI_Aint *extent)
{
    MPI_Aint low;
    free(inner->runs);
    const int rc = cco_element_places_of(c->inner[i], inner);
    return rc == MPI_SUCCESS ? PMPI_Type_get_extent(c->inner[i], &low, extent) : rc;
}

static int add_blocks(cco_element_places *p, const cco_type_contents *c)
{
    const MPI_Count blocks = blocks_of(c);
    const bool differ = c->combiner == MPI_COMBINER_STRUCT;
    cco_element_places inner = {.basic = MPI_DATATYPE_NULL};
    MPI_Aint extent = 0;
    int rc = !differ && blocks > 0 ? next_inner(c, 0, &inner, &extent) : MPI_SUCCESS;
    for (MPI_Count i = 0; rc == MPI_SUCCESS && i < blocks; i++) {
        MPI_Count at, length;
        element_places_block_of(c, i, extent, &at, &length);
        if (differ && length > 0)
            rc = next_inner(c, i, &inner, &extent);
        if (rc == MPI_SUCCESS)
            rc = element_places_append(p, &inner, (MPI_Aint)at, length, extent);
    }
    free(inner.runs);
    return rc;
}

/* Byte number `place` of where each element begins, from the first byte of the data. */
static int find_bytes(MPI_Aint *at, size_t elements, MPI_Datatype type, unsigned char *memory,
                      size_t size, MPI_Aint first, unsigned char *packed, size_t bytes, int place)
{
    for (size_t i = 0; i < size; i++)
        memory[i] = (unsigned char)(i >> 8 * place);
    if (cco_type_pack((char *)packed, memory - first, 1, type) != MPI_SUCCESS)
        return MPI_ERR_TYPE;
    for (size_t i = 0; i < elements; i++)
        at[i] |= (MPI_Aint)packed[i * bytes] << 8 * place;
    return MPI_SUCCESS;
}

static int find_by_packing(cco_element_places *p, MPI_Datatype type, size_t bytes)
{
    const MPI_Count all = cco_type_size(type);
    MPI_Aint first, size;
    if (all % (MPI_Count)bytes != 0 ||
        PMPI_Type_get_true_extent(type, &first, &size) != MPI_SUCCESS)
        return MPI_ERR_TYPE;
    const size_t elements = (size_t)all / bytes;
    MPI_Aint *at = calloc(elements + 1, sizeof *at);
    unsigned char *memory = malloc((size_t)size + 1), *packed = malloc((size_t)all + 1);
    int rc = at != NULL && memory != NULL && packed != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int k = 0; rc == MPI_SUCCESS && k < 8 && (k == 0 || (size - 1) >> 8 * k > 0); k++)
        rc = find_bytes(at, elements, type, memory, (size_t)size, first, packed, bytes, k);
    for (size_t i = 0; rc == MPI_SUCCESS && i < elements; i++)
        rc = add_run(p, first + at[i], 1);
    free(packed);
    free(memory);
    free(at);
    return rc;
}

/* What all inner types consist of. */
static int find_basic(cco_element_places *p, const cco_type_contents *c)
{
    int rc = MPI_SUCCESS;
    for (size_t i = 0; rc == MPI_SUCCESS && i < c->types; i++) {
        cco_element_places inner;
        rc = cco_element_places_of(c->inner[i], &inner);
        if (rc != MPI_SUCCESS || inner.count == 0)
            continue;
        if (p->basic != MPI_DATATYPE_NULL && p->basic != inner.basic)
            rc = MPI_ERR_TYPE;
        p->basic = inner.basic;
        p->step = inner.step;
        free(inner.runs);
    }
    return rc;
}

/* Asks for the places of a constructor that block_of does not know. */
static int ask_pack(cco_element_places *p, MPI_Datatype type, const cco_type_contents *c)
{
    MPI_Datatype packs; /* the program may not have committed it */
    int rc = find_basic(p, c);
    if (rc != MPI_SUCCESS || p->basic == MPI_DATATYPE_NULL)
        return rc;
    if (PMPI_Type_contiguous(1, type, &packs) != MPI_SUCCESS)
        return MPI_ERR_NO_MEM;
    rc = PMPI_Type_commit(&packs) == MPI_SUCCESS
             ? find_by_packing(p, packs, (size_t)cco_type_size(p->basic))
             : MPI_ERR_NO_MEM;
    PMPI_Type_free(&packs);
    return rc;
}

/* Bounds (MPI_UB of old programs) are no elements. */
static int of_predefined(MPI_Datatype type, cco_element_places *p)
{
    MPI_Aint low;
    if (cco_type_size(type) <= 0)
        return MPI_SUCCESS;
    p->basic = type;
    const int rc = PMPI_Type_get_extent(type, &low, &p->step);
    return rc == MPI_SUCCESS ? add_run(p, 0, 1) : rc;
}

static int of_derived(MPI_Datatype type, cco_element_places *p)
{
    cco_type_contents c;
    int rc = cco_type_contents_get(type, &c);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = blocks_of(&c) >= 0 ? add_blocks(p, &c) : ask_pack(p, type, &c);
    cco_type_contents_release(&c);
    return rc;
}

int cco_element_places_of(MPI_Datatype type, cco_element_places *p)
{
    *p = (cco_element_places){.basic = MPI_DATATYPE_NULL};
    const int rc = cco_type_predefined(type) ? of_predefined(type, p) : of_derived(type, p);
    if (rc != MPI_SUCCESS) {
        free(p->runs);
        *p = (cco_element_places){.basic = MPI_DATATYPE_NULL};
    }
    return rc;
}
