/* SPDX-License-Identifier: BSD-3-Clause */
/* element_map.c - see element_map.h.  The map is made once for each type. */
#include "window/element_map.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "call/data.h"
#include "reduce/kernels.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;

static int element_map_forget(MPI_Datatype type, int keyval, void *attribute, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    free(((cco_element_map *)attribute)->runs);
    free(attribute);
    return MPI_SUCCESS;
}

/* The MPI's own function for that is no name that a process without MPI has (mpi/mpi_compat.h). */
static int element_map_not_copied(MPI_Datatype type, int keyval, void *extra, void *attribute,
                                  void *copy, int *copied)
{
    (void)type, (void)keyval, (void)extra, (void)attribute, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

static bool element_map_measure(cco_element_map *map, MPI_Datatype type)
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

/* *made stays NULL where there is none. */
static int element_map_make(MPI_Datatype type, cco_element_map **made)
{
    cco_element_places places;
    int rc = cco_element_places_of(type, &places);
    if (rc != MPI_SUCCESS || places.basic == MPI_DATATYPE_NULL)
        return rc == MPI_ERR_NO_MEM ? rc : MPI_SUCCESS;
    cco_element_map *map = malloc(sizeof *map);
    if (map != NULL) {
        *map = (cco_element_map){.basic = places.basic, .runs = places.runs, .count = places.count};
        const bool good = element_map_measure(map, type) && map->elements == places.elements;
        if (good && PMPI_Type_set_attr(type, key, map) == MPI_SUCCESS) {
            *made = map;
            return MPI_SUCCESS;
        }
        rc = good ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    } else {
        rc = MPI_ERR_NO_MEM;
    }
    free(places.runs);
    free(map);
    return rc;
}

static int map_of_derived(MPI_Datatype type, cco_element_map **map)
{
    int there = 0, rc = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(element_map_not_copied, element_map_forget, &key, NULL) !=
            MPI_SUCCESS)
        key = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID) {
        rc = MPI_ERR_NO_MEM;
    } else {
        PMPI_Type_get_attr(type, key, map, &there);
        if (!there) {
            *map = NULL;
            rc = element_map_make(type, map);
        }
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int cco_element_map_of(MPI_Datatype type, const cco_element_map **map)
{
    static _Thread_local cco_element_map last = {.basic = MPI_DATATYPE_NULL};
    *map = NULL;
    if (!cco_is_type(type))
        return MPI_SUCCESS;
    if (last.elements != 1 || last.basic != type) {
        if (!cco_type_predefined(type)) {
            cco_element_map *derived = NULL;
            const int rc = map_of_derived(type, &derived);
            *map = derived;
            return rc;
        }
        last = (cco_element_map){.basic = type};
        if (!element_map_measure(&last, type))
            return MPI_SUCCESS;
    }
    *map = &last;
    return MPI_SUCCESS;
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

/* Where we have no loop, MPI_Reduce_local computes Fortran's logical values and wide numbers.  It
 * is not asked for what it refuses, since it would call an error handler. */
static bool mpi_computes(MPI_Datatype type, MPI_Op op)
{
    return cco_number_kind(type) == CCO_KIND_NONE && type != MPI_PACKED && cco_op_takes(op, type);
}

/* MPIs compute characters of C as integers, though the standard has no operations for them. */
static MPI_Datatype number_type(MPI_Datatype type)
{
    return type != MPI_CHAR ? type : CHAR_MIN < 0 ? MPI_SIGNED_CHAR : MPI_UNSIGNED_CHAR;
}

static bool element_map_describe(cco_element *e, MPI_Datatype type, MPI_Op op)
{
    MPI_Aint low, size, extent;
    MPI_Count bytes;
    const MPI_Datatype number = number_type(type);
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
                       .change = change_of(number, op),
                       .type = type,
                       .op = op};
    if (e->change != CCO_CHANGE_NONE && e->change != CCO_CHANGE_REPLACE)
        e->kernel = cco_kernel_of(op, number);
    return e->change != CCO_CHANGE_COMPUTE || e->kernel != NULL || mpi_computes(number, op);
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
    if (!element_map_describe(&made, type, op))
        return NULL;
    *e = made;
    return e;
}
