/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.c - see compare.h. */
#include "validate/compare.h"

#include <string.h>

#include "call/data.h"
#include "reduce/kernels.h"

/* Where the comparison is. */
typedef struct comparison {
    cco_check *check;
    const cco_shadow_block *block;
    cco_numbers numbers; /* of its elements */
    cco_difference *first;
    uint64_t unjudged;
} comparison;

static void compare_note(comparison *c, size_t element, const char *found, const char *expected)
{
    cco_difference *d = c->first;
    if (d->wrong++ > 0)
        return;
    const cco_shadow_block *b = c->block;
    d->block = b->number;
    d->element = (int64_t)element;
    d->offset = b->at - (const char *)c->check->call.recvbuf + (int64_t)element * b->extent;
    cco_numbers_show(&c->numbers, found, d->found, sizeof d->found);
    cco_numbers_show(&c->numbers, expected, d->expected, sizeof d->expected);
}

/* Elements without gaps. */
static void compare_data(comparison *c, const char *found, const char *expected)
{
    const size_t count = (size_t)c->block->count, size = c->numbers.size;
    const double *weights = c->check->weighs ? c->check->weights[1] : NULL;
    if (memcmp(found, expected, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        const char *a = found + i * size, *b = expected + i * size;
        const cco_judged judged = cco_numbers_judge(&c->numbers, a, b,
                                                    weights != NULL ? weights[i] : -1);
        c->unjudged += judged == CCO_UNJUDGED;
        if (judged == CCO_DIFFER)
            compare_note(c, i, a, b);
    }
}

/* Pairs of the standard have gaps too, which operations of the MPI copy along. */
static bool compare_has_gaps(const cco_shadow_block *b)
{
    return !b->dense && !cco_type_predefined(b->type);
}

/* No call may write there.  What the memory should hold now is what it held, with the data that
 * were found in their places: those of all blocks, for the gaps of one may hold the data of
 * another. */
static void compare_gaps(comparison *c)
{
    const cco_shadow_block *b = c->block;
    const char *should = cco_shadowed(&c->check->before, b->low);
    if (c->first->wrong > 0 || memcmp(should, b->low, b->span) == 0)
        return;
    size_t i = 0;
    while (should[i] == b->low[i])
        i++;
    const cco_numbers byte = {.number = CCO_U8, .loop = CCO_LOOPS, .size = 1};
    cco_difference *d = c->first;
    d->wrong = d->gap = 1;
    d->block = b->number;
    d->offset = b->low - (const char *)c->check->call.recvbuf + (int64_t)i;
    cco_numbers_show(&byte, b->low + i, d->found, sizeof d->found);
    cco_numbers_show(&byte, should + i, d->expected, sizeof d->expected);
}

/* Elements with gaps, as their data. */
static void compare_sparse(comparison *c)
{
    cco_check *k = c->check;
    const cco_shadow_block *b = c->block;
    const size_t count = (size_t)b->count;
    int rc = cco_type_pack(k->packed[0], b->at, count, b->type);
    if (rc == MPI_SUCCESS)
        rc = cco_type_pack(k->packed[1], cco_shadowed(&k->expected, b->at), count, b->type);
    if (rc == MPI_SUCCESS)
        rc = cco_type_unpack(cco_shadowed(&k->before, b->at), count, b->type, k->packed[0]);
    if (rc == MPI_SUCCESS)
        compare_data(c, k->packed[0], k->packed[1]);
    else
        c->unjudged += count;
}

static void compare_dense(comparison *c)
{
    const cco_check *k = c->check;
    const cco_shadow_block *b = c->block;
    if (!k->out.dense)
        memcpy(cco_shadowed(&k->before, b->low), b->low, b->span);
    compare_data(c, b->at, cco_shadowed(&k->expected, b->at));
}

/* Data that only move are the same bit by bit. */
static cco_numbers numbers_of(const cco_check *k, MPI_Datatype type)
{
    if (cco_coll_infos[k->call.coll].properties & CCO_REDUCTION)
        return k->numbers;
    return (cco_numbers){.number = cco_number_of(type),
                         .loop = CCO_LOOPS,
                         .size = (size_t)cco_type_size(type),
                         .integers = true};
}

bool cco_compare(cco_check *k, cco_difference *first, uint64_t *unjudged)
{
    comparison c = {.check = k, .first = first};
    memset(first, 0, sizeof *first);
    first->rank = k->of->state->rank;
    for (int i = 0; i < k->out.count; i++) {
        c.block = &k->out.blocks[i];
        c.numbers = numbers_of(k, c.block->type);
        if (c.block->dense)
            compare_dense(&c);
        else
            compare_sparse(&c);
    }
    for (int i = 0; !k->begun && i < k->out.count; i++) { /* the program may write there then */
        c.block = &k->out.blocks[i];
        if (compare_has_gaps(c.block))
            compare_gaps(&c);
    }
    *unjudged = c.unjudged;
    return first->wrong == 0;
}
