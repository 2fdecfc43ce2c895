/* SPDX-License-Identifier: BSD-3-Clause */
/* element_map.c - see element_map.h.
 *
 * Where the elements of a derived type lie, MPI_Pack tells: memory of the extent of the type, whose
 * bytes say where they are, is packed.  That holds for every way to construct a type, and the map
 * is made once for each type. */
#include "window/element_map.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/data.h"
#include "core/kernels.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;

static bool leaf_of(MPI_Datatype type, MPI_Datatype *basic);

/* The same for the types that a type is made of; those that are derived are freed. */
static bool leaves_of(MPI_Datatype *inner, size_t count, MPI_Datatype *basic)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        same = same && leaf_of(inner[i], basic);
        if (!cco_type_predefined(inner[i]))
            PMPI_Type_free(&inner[i]);
    }
    return same;
}

/* What a type is made of: numbers, which we do not need, and types. */
#if defined(CRESTA_HAVE_LARGE_COUNT)
static bool contents_of(MPI_Datatype type, MPI_Datatype **inner, size_t *count)
{
    MPI_Count ints, aints, counts, types;
    int combiner;
    if (PMPI_Type_get_envelope_c(type, &ints, &aints, &counts, &types, &combiner) != MPI_SUCCESS)
        return false;
    int *a = malloc((size_t)ints * sizeof *a + 1);
    MPI_Aint *b = malloc((size_t)aints * sizeof *b + 1);
    MPI_Count *c = malloc((size_t)counts * sizeof *c + 1);
    *inner = malloc((size_t)types * sizeof **inner + 1);
    *count = (size_t)types;
    const bool good = a != NULL && b != NULL && c != NULL && *inner != NULL &&
                      PMPI_Type_get_contents_c(type, ints, aints, counts, types, a, b, c,
                                               *inner) == MPI_SUCCESS;
    free(a);
    free(b);
    free(c);
    return good;
}
#else
static bool contents_of(MPI_Datatype type, MPI_Datatype **inner, size_t *count)
{
    int ints, aints, types, combiner;
    if (PMPI_Type_get_envelope(type, &ints, &aints, &types, &combiner) != MPI_SUCCESS)
        return false;
    int *a = malloc((size_t)ints * sizeof *a + 1);
    MPI_Aint *b = malloc((size_t)aints * sizeof *b + 1);
    *inner = malloc((size_t)types * sizeof **inner + 1);
    *count = (size_t)types;
    const bool good = a != NULL && b != NULL && *inner != NULL &&
                      PMPI_Type_get_contents(type, ints, aints, types, a, b, *inner) == MPI_SUCCESS;
    free(a);
    free(b);
    return good;
}
#endif

/* The one predefined type that all elements of `type` have; false if it is not that of `basic`,
 * where that has one already. */
static bool leaf_of(MPI_Datatype type, MPI_Datatype *basic)
{
    if (cco_type_predefined(type)) {
        const bool same = *basic == MPI_DATATYPE_NULL || *basic == type;
        *basic = type;
        return same;
    }
    MPI_Datatype *inner = NULL;
    size_t count = 0;
    const bool same = contents_of(type, &inner, &count) && leaves_of(inner, count, basic);
    free(inner);
    return same;
}

/* Byte number `place` of where each element begins, from the first byte of the data. */
static bool find_bytes(cco_element_map *map, MPI_Datatype type, unsigned char *memory, char *packed,
                       int place)
{
    const size_t size = (size_t)(map->end - map->first);
    for (size_t i = 0; i < size; i++)
        memory[i] = (unsigned char)(i >> 8 * place);
    if (cco_type_pack(packed, memory - map->first, 1, type) != MPI_SUCCESS)
        return false;
    for (size_t i = 0; i < map->elements; i++)
        map->at[i] |= (MPI_Aint)(unsigned char)packed[i * map->bytes] << 8 * place;
    return true;
}

static bool find_elements(cco_element_map *map, MPI_Datatype type)
{
    const size_t size = (size_t)(map->end - map->first);
    unsigned char *memory = malloc(size + 1);
    char *packed = malloc(map->elements * map->bytes + 1);
    map->at = calloc(map->elements + 1, sizeof *map->at);
    bool good = memory != NULL && packed != NULL && map->at != NULL;
    for (int place = 0; good && place < 8 && (place == 0 || (size - 1) >> 8 * place != 0); place++)
        good = find_bytes(map, type, memory, packed, place);
    for (size_t i = 0; good && i < map->elements; i++)
        map->at[i] += map->first;
    free(packed);
    free(memory);
    return good;
}

static int forget(MPI_Datatype type, int keyval, void *attribute, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    free(((cco_element_map *)attribute)->at);
    free(attribute);
    return MPI_SUCCESS;
}

/* The MPI's own function for that is no name that a process without MPI has (core/mpi_compat.h). */
static int not_copied(MPI_Datatype type, int keyval, void *extra, void *attribute, void *copy,
                      int *copied)
{
    (void)type, (void)keyval, (void)extra, (void)attribute, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

static bool measure(cco_element_map *map, MPI_Datatype type)
{
    MPI_Count size, bytes;
    MPI_Aint low, extent;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &map->first, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_extent(type, &low, &map->extent) != MPI_SUCCESS ||
        PMPI_Type_size_x(map->basic, &bytes) != MPI_SUCCESS || bytes <= 0)
        return false;
    map->end = map->first + extent;
    map->bytes = (size_t)bytes;
    map->elements = (size_t)(size / bytes);
    return size % bytes == 0;
}

static cco_element_map *make(MPI_Datatype type)
{
    cco_element_map *map = calloc(1, sizeof *map);
    if (map == NULL)
        return NULL;
    map->basic = MPI_DATATYPE_NULL;
    if (leaf_of(type, &map->basic) && map->basic != MPI_DATATYPE_NULL && measure(map, type) &&
        find_elements(map, type) && PMPI_Type_set_attr(type, key, map) == MPI_SUCCESS)
        return map;
    free(map->at);
    free(map);
    return NULL;
}

static const cco_element_map *map_of_derived(MPI_Datatype type)
{
    cco_element_map *map = NULL;
    int there = 0;
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(not_copied, forget, &key, NULL) != MPI_SUCCESS)
        key = MPI_KEYVAL_INVALID;
    if (key != MPI_KEYVAL_INVALID) {
        PMPI_Type_get_attr(type, key, &map, &there);
        map = there ? map : make(type);
    }
    pthread_mutex_unlock(&lock);
    return map;
}

const cco_element_map *cco_element_map_of(MPI_Datatype type)
{
    static _Thread_local cco_element_map last = {.basic = MPI_DATATYPE_NULL};
    if (type == MPI_DATATYPE_NULL)
        return NULL;
    if (last.elements == 1 && last.basic == type)
        return &last;
    if (!cco_type_predefined(type))
        return map_of_derived(type);
    last = (cco_element_map){.basic = type};
    return measure(&last, type) ? &last : NULL;
}

/* How the words of a type change, if the processor has an operation for that. */
static cco_change change_of(MPI_Datatype type, MPI_Op op)
{
    if (op == MPI_NO_OP)
        return CCO_CHANGE_NONE;
    if (op == MPI_REPLACE)
        return CCO_CHANGE_REPLACE;
    if (cco_number_kind(type) != CCO_KIND_INTEGER)
        return CCO_CHANGE_COMPUTE;
    return op == MPI_SUM    ? CCO_CHANGE_ADD
           : op == MPI_BAND ? CCO_CHANGE_AND
           : op == MPI_BOR  ? CCO_CHANGE_OR
           : op == MPI_BXOR ? CCO_CHANGE_XOR
                            : CCO_CHANGE_COMPUTE;
}

/* Where we have no loop, MPI_Reduce_local computes logical values and wide numbers; for numbers
 * that we know, and for characters and bytes, the standard has no such operation. */
static bool mpi_computes(MPI_Datatype type)
{
    return cco_number_kind(type) == CCO_KIND_NONE && type != MPI_CHAR && type != MPI_BYTE &&
           type != MPI_PACKED;
}

static bool describe(cco_element *e, MPI_Datatype type, MPI_Op op)
{
    MPI_Aint low, size, extent;
    MPI_Count bytes;
    if (!cco_op_reserved(op) || !cco_type_predefined(type) ||
        PMPI_Type_get_true_extent(type, &low, &size) != MPI_SUCCESS || low != 0 || size <= 0 ||
        size > CCO_ELEMENT_ROOM || PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS)
        return false;
    *e = (cco_element){.size = (size_t)size,
                       .extent = (size_t)extent,
                       .number = cco_number_kind(type) == CCO_KIND_FLOATING,
                       .compares = extent == (MPI_Aint)bytes &&
                                   cco_number_kind(type) != CCO_KIND_FLOATING,
                       .change = change_of(type, op),
                       .type = type,
                       .op = op};
    if (e->change != CCO_CHANGE_NONE && e->change != CCO_CHANGE_REPLACE)
        e->kernel = cco_kernel_of(op, type);
    return e->change != CCO_CHANGE_COMPUTE || e->kernel != NULL || mpi_computes(type);
}

const cco_element *cco_element_of(MPI_Datatype type, MPI_Op op)
{
    enum { KEPT = 8 }; /* a power of two */
    static _Thread_local cco_element kept[KEPT];
    const uintptr_t mixed = (uintptr_t)type * 31 + (uintptr_t)op * 7;
    cco_element *e = &kept[(mixed >> 4 ^ mixed) & (KEPT - 1)];
    if (e->size != 0 && e->type == type && e->op == op)
        return e;
    cco_element made;
    if (!describe(&made, type, op))
        return NULL;
    *e = made;
    return e;
}
