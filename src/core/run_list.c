/* SPDX-License-Identifier: BSD-3-Clause */
/* run_list.c - see run_list.h. */
#include "core/run_list.h"

#include <stdlib.h>

#include "core/call.h"
#include "core/data.h"
#include "core/type_contents.h"

enum {
    LEVELS = 32, /* of types in types */
    TYPES = 4096 /* that are looked at */
};

/* What is left of these. */
typedef struct limits {
    int levels, types;
} limits;

static bool make_room(cco_run_list *l)
{
    enum { FIRST = 4 };
    if (l->count < l->room)
        return true;
    if (l->count >= CCO_RUN_LIST_MOST)
        return false;
    const size_t room = l->room > 0 ? 2 * l->room : FIRST;
    cco_run_of *runs = realloc(l->runs, room * sizeof *runs);
    if (runs == NULL)
        return false;
    l->runs = runs;
    l->room = room;
    return true;
}

/* Makes `r` a part of the run before it; false if it is none. */
static bool extend(cco_run_of *last, const cco_run_of *r)
{
    if (last->times == 1 && r->times == 1 && last->at + (MPI_Aint)last->bytes == r->at) {
        last->bytes += r->bytes;
        return true;
    }
    if (last->bytes != r->bytes)
        return false;
    const MPI_Aint step = last->times > 1 ? last->step : r->at - last->at;
    if (last->at + (MPI_Aint)last->times * step != r->at || (r->times > 1 && r->step != step))
        return false;
    last->step = step;
    last->times += r->times;
    return true;
}

static bool add(cco_run_list *l, cco_run_of r)
{
    if (l->count > 0 && extend(&l->runs[l->count - 1], &r))
        return true;
    if (!make_room(l))
        return false;
    l->runs[l->count++] = r;
    return true;
}

/* `n` runs as one, each `step` behind the one before; false if that needs several. */
static bool multiply(cco_run_of *r, MPI_Count n, MPI_Aint step)
{
    if (r->times == 1 && step == (MPI_Aint)r->bytes) {
        r->bytes *= (size_t)n;
        return true;
    }
    if (r->times > 1 && step != (MPI_Aint)r->times * r->step)
        return false;
    r->step = r->times == 1 ? step : r->step;
    r->times *= (size_t)n;
    return true;
}

/* `n` times what `inner` has, from `at` on, each `step` bytes behind the one before. */
static bool append(cco_run_list *l, const cco_run_list *inner, MPI_Aint at, MPI_Count n,
                   MPI_Aint step)
{
    if (n <= 0 || inner->count == 0)
        return true;
    cco_run_of one = inner->runs[0];
    if (inner->count == 1 && (n == 1 || multiply(&one, n, step))) {
        one.at += at;
        return add(l, one);
    }
    if (n > CCO_RUN_LIST_MOST) /* each adds a run */
        return false;
    for (MPI_Count i = 0; i < n; i++, at += step)
        for (size_t k = 0; k < inner->count; k++) {
            cco_run_of r = inner->runs[k];
            r.at += at;
            if (!add(l, r))
                return false;
        }
    return true;
}

static bool flatten(MPI_Datatype type, cco_run_list *l, limits *left);

/* The runs of an inner type, and how far its elements are apart. */
static bool look_into(MPI_Datatype type, cco_run_list *inner, MPI_Aint *extent, limits *left)
{
    MPI_Aint low;
    *inner = (cco_run_list){.runs = NULL};
    return PMPI_Type_get_extent(type, &low, extent) == MPI_SUCCESS && flatten(type, inner, left);
}

/* Blocks of `length` at distances of `step`. */
static bool add_vector(cco_run_list *l, const cco_run_list *inner, MPI_Count count,
                       MPI_Count length, MPI_Aint step, MPI_Aint extent)
{
    cco_run_list block = {.runs = NULL};
    const bool all = append(&block, inner, 0, length, extent) && append(l, &block, 0, count, step);
    free(block.runs);
    return all;
}

/* Dimension by dimension, the fastest first. */
static bool add_subarray(cco_run_list *l, const cco_type_contents *c, const cco_run_list *inner,
                         MPI_Aint extent)
{
    const MPI_Count dims = c->numbers[0], *sizes = c->numbers + (c->large ? 2 : 1);
    const MPI_Count *subsizes = sizes + dims, *starts = subsizes + dims;
    const MPI_Count order = c->large ? c->numbers[1] : starts[dims];
    cco_run_list so_far = {.runs = NULL}, next;
    bool all = append(&so_far, inner, 0, 1, 0);
    for (MPI_Count k = 0; k < dims && all; k++) {
        const MPI_Count d = order == MPI_ORDER_C ? dims - 1 - k : k;
        next = (cco_run_list){.runs = NULL};
        all = append(&next, &so_far, (MPI_Aint)starts[d] * extent, subsizes[d], extent);
        extent *= (MPI_Aint)sizes[d];
        free(so_far.runs);
        so_far = next;
    }
    all = all && append(l, &so_far, 0, 1, 0);
    free(so_far.runs);
    return all;
}

static bool add_blocks(cco_run_list *l, const cco_type_contents *c, const cco_run_list *inner,
                       MPI_Aint extent)
{
    const MPI_Count *n = c->numbers;
    const bool bytes =
        c->combiner == MPI_COMBINER_HINDEXED || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const bool alike =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const MPI_Aint unit = bytes ? 1 : extent;
    for (MPI_Count i = 0; i < n[0]; i++) {
        const MPI_Count at = alike ? n[2 + i] : n[1 + n[0] + i];
        if (!append(l, inner, (MPI_Aint)at * unit, alike ? n[1] : n[1 + i], extent))
            return false;
    }
    return true;
}

/* Of one inner type. */
static bool add_like(cco_run_list *l, const cco_type_contents *c, const cco_run_list *inner,
                     MPI_Aint extent)
{
    const MPI_Count *n = c->numbers;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return append(l, inner, 0, 1, 0);
    case MPI_COMBINER_CONTIGUOUS:
        return append(l, inner, 0, n[0], extent);
    case MPI_COMBINER_VECTOR:
        return add_vector(l, inner, n[0], n[1], (MPI_Aint)n[2] * extent, extent);
    case MPI_COMBINER_HVECTOR:
        return add_vector(l, inner, n[0], n[1], (MPI_Aint)n[2], extent);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return add_blocks(l, c, inner, extent);
    case MPI_COMBINER_SUBARRAY:
        return add_subarray(l, c, inner, extent);
    default:
        return false;
    }
}

static bool add_struct(cco_run_list *l, const cco_type_contents *c, limits *left)
{
    const MPI_Count *n = c->numbers;
    bool all = true;
    for (MPI_Count i = 0; i < n[0] && all; i++) {
        cco_run_list inner = {.runs = NULL};
        MPI_Aint extent = 0;
        if (n[1 + i] > 0)
            all = look_into(c->inner[i], &inner, &extent, left) &&
                  append(l, &inner, (MPI_Aint)n[1 + n[0] + i], n[1 + i], extent);
        free(inner.runs);
    }
    return all;
}

/* One of the standard's, of bytes without gaps: others, such as MPI_DOUBLE_INT, have theirs where
 * the compiler puts them. */
static bool add_named(cco_run_list *l, MPI_Datatype type)
{
    const size_t size = (size_t)cco_type_size(type);
    return cco_type_dense(type) && (size == 0 || add(l, (cco_run_of){0, 0, size, 1}));
}

static bool flatten(MPI_Datatype type, cco_run_list *l, limits *left)
{
    cco_type_contents c;
    cco_run_list inner = {.runs = NULL};
    MPI_Aint extent = 0;
    if (cco_type_predefined(type))
        return add_named(l, type);
    if (left->levels == 0 || left->types-- == 0 || cco_type_contents_get(type, &c) != MPI_SUCCESS)
        return false;
    left->levels--;
    const bool all = c.combiner == MPI_COMBINER_STRUCT
                         ? add_struct(l, &c, left)
                         : c.types == 1 && look_into(c.inner[0], &inner, &extent, left) &&
                               add_like(l, &c, &inner, extent);
    left->levels++;
    free(inner.runs);
    cco_type_contents_release(&c);
    return all;
}

bool cco_run_list_of(MPI_Datatype type, cco_run_list *list)
{
    limits left = {.levels = LEVELS, .types = TYPES};
    *list = (cco_run_list){.runs = NULL};
    return flatten(type, list, &left);
}
