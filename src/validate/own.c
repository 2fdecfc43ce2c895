/* SPDX-License-Identifier: BSD-3-Clause */
/* own.c - see own.h. */
#include "validate/own.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "mpi/dup_bare.h"
#include "plan/bound.h"
#include "validate/budget.h"

static size_t span_of(const cco_covered *end)
{
    return end->count > 0 ? (size_t)(end->high - end->low) : 0;
}

static bool own_reads(const cco_check *k)
{
    return k->in.count > 0 && k->call.sendbuf != MPI_IN_PLACE;
}

static bool own_writes(const cco_check *k)
{
    return cco_check_end_before(k)->count > 0 && k->call.recvbuf != MPI_IN_PLACE;
}

/* A type that the program cannot free. */
static bool own_hold(cco_own *own, MPI_Datatype *type)
{
    if (!cco_type_derived(*type))
        return true;
    if (cco_type_dup_bare(*type, &own->types[own->held]) != MPI_SUCCESS)
        return false;
    *type = own->types[own->held++];
    return true;
}

/* Those of one side of a call: one, or an array that is ours by now. */
static bool own_hold_side(cco_own *own, MPI_Datatype *one, const MPI_Datatype *several, int count)
{
    MPI_Datatype *types = (MPI_Datatype *)(uintptr_t)several;
    bool fine = several != NULL || own_hold(own, one);
    for (int i = 0; fine && several != NULL && i < count; i++)
        fine = own_hold(own, &types[i]);
    return fine;
}

/* Only what means something on this rank is a type for sure. */
static bool own_hold_types(cco_own *own, cco_check *k)
{
    cco_call *c = &k->call;
    cco_buffer in, out;
    bool fine = true;
    cco_bound_ends(k->of->state, c, &in, &out);
    own->types = malloc((2 + 2 * (size_t)k->of->state->size) * sizeof *own->types);
    if (own->types == NULL || cco_coll_infos[c->coll].properties & CCO_REDUCTION)
        return own->types != NULL; /* types of the standard only */
    if (c->coll == CCO_BCAST) {
        fine = own_hold(own, &c->recvtype);
        c->sendtype = c->recvtype;
        return fine;
    }
    if (in.blocks > 0 && c->sendbuf != MPI_IN_PLACE)
        fine = own_hold_side(own, &c->sendtype, c->sendtypes, in.blocks);
    if (fine && out.blocks > 0 && c->recvbuf != MPI_IN_PLACE)
        fine = own_hold_side(own, &c->recvtype, c->recvtypes, out.blocks);
    return fine;
}

/* The call on copies of the program's memory, which its description is no more. */
static bool own_move(cco_own *own, cco_check *k)
{
    cco_call *c = &k->call;
    const bool read = own_reads(k), written = own_writes(k);
    if ((read && !cco_shadow_make(&own->given, &k->in)) ||
        (written && !cco_shadow_make(&own->found, cco_check_end_before(k))))
        return false;
    if (read)
        c->sendbuf = cco_shadowed(&own->given, c->sendbuf);
    if (written)
        c->recvbuf = cco_shadowed(&own->found, c->recvbuf);
    if (c->coll == CCO_BCAST && read)
        c->recvbuf = (void *)(uintptr_t)c->sendbuf;
    else if (c->coll == CCO_BCAST)
        c->sendbuf = c->recvbuf;
    own->out = k->out;
    k->out = (cco_covered){.blocks = NULL};
    cco_covered_free(&k->in);
    return true;
}

/* What the root of a bcast gives lies in the only buffer that a bcast has. */
static bool describe_given(cco_check *k)
{
    cco_buffer in, out;
    if (k->call.coll != CCO_BCAST || k->of->state->rank != k->call.root)
        return true;
    cco_bound_ends(k->of->state, &k->call, &in, &out);
    cco_covered_free(&k->in);
    return cco_covered_make(&k->in, &k->call, &out);
}

cco_skip cco_own_make(cco_own *own, cco_check *k)
{
    size_t bytes = 0;
    const cco_skip skip = cco_check_prepare(k, &bytes);
    if (skip != CCO_CHECKED)
        return skip;
    if (!describe_given(k))
        return CCO_SKIP_NO_MEMORY;
    bytes += (own_reads(k) ? span_of(&k->in) : 0) +
             (own_writes(k) ? span_of(cco_check_end_before(k)) : 0);
    if (!cco_covered_is_mapped(&k->in))
        return CCO_SKIP_HOLES;
    if (bytes > cco_budget_most())
        return CCO_SKIP_LARGE;
    if (!cco_budget_take(bytes))
        return CCO_SKIP_WAITING;
    own->bytes = bytes;
    if (cco_copy_only_arrays(&k->call, &own->arrays) != MPI_SUCCESS || !own_hold_types(own, k) ||
        !own_move(own, k))
        return CCO_SKIP_NO_MEMORY;
    const cco_skip again = cco_check_prepare(k, &bytes);
    return again == CCO_CHECKED ? cco_check_copy(k) : again;
}

void cco_own_take(const cco_own *own)
{
    for (int i = 0; own->found.memory != NULL && i < own->out.count; i++) {
        const cco_shadow_block *b = &own->out.blocks[i];
        memcpy(cco_shadowed(&own->found, b->low), b->low, b->span);
    }
}

void cco_own_free(cco_own *own)
{
    cco_covered_free(&own->out);
    cco_shadow_free(&own->given);
    cco_shadow_free(&own->found);
    cco_copies_free(own->arrays);
    for (int i = 0; i < own->held; i++)
        PMPI_Type_free(&own->types[i]);
    free(own->types);
    cco_budget_give(own->bytes);
    *own = (cco_own){.bytes = 0};
}
