/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - see check.h: what a check needs before the call, and the call once more. */
#include "validate/check.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "call/data.h"
#include "reduce/kernels.h"
#include "plan/bound.h"
#include "validate/budget.h"
#include "call/type_contents.h"

/* As the standard says where MPI_IN_PLACE means something. */
static bool is_in_place(const cco_call *c, int rank)
{
    const int properties = cco_coll_infos[c->coll].properties;
    if (properties & CCO_NEIGHBORS || cco_coll_infos[c->coll].in == CCO_NONE ||
        (properties & CCO_ROOTED && rank != c->root))
        return false;
    return (properties & CCO_SCATTERS ? c->recvbuf : c->sendbuf) == MPI_IN_PLACE;
}

static bool validate_check_reduces(const cco_check *k)
{
    return cco_coll_infos[k->call.coll].properties & CCO_REDUCTION;
}

/* The root of a bcast gets nothing, and nobody knows what the first rank of an exscan gets. */
static bool gets_nothing(const cco_check *k)
{
    const int rank = k->of->state->rank;
    return (k->call.coll == CCO_BCAST && rank == k->call.root) ||
           (k->call.coll == CCO_EXSCAN && rank == 0);
}

static void describe_numbers(cco_check *k)
{
    const MPI_Datatype type = k->call.recvtype;
    const bool predefined = cco_op_predefined(k->call.op);
    k->numbers = (cco_numbers){.number = cco_number_of(type),
                               .loop = predefined ? cco_loop_of(k->call.op) : CCO_LOOPS,
                               .size = (size_t)cco_type_size(type),
                               .operands = k->of->state->size,
                               .integers = cco_leaves_are_exact(type),
                               .ordered = cco_is_neighbor(k->call.coll)};
    k->weighs = cco_numbers_exactness(&k->numbers) == CCO_BOUNDED;
}

/* Whether what the receive buffer held is needed after the call: it is what the reference reads, or
 * what gaps have to hold. */
static bool keeps_before(const cco_check *k)
{
    return k->in_place || !k->out.dense;
}

const cco_covered *cco_check_end_before(const cco_check *k)
{
    return k->in_place && validate_check_reduces(k) ? &k->in : &k->out;
}

static MPI_Count validate_check_count_of(const cco_covered *end)
{
    MPI_Count count = 0;
    for (int i = 0; i < end->count; i++)
        count += end->blocks[i].count;
    return count;
}

/* The largest block with gaps, packed. */
static size_t packed_bytes(const cco_covered *end)
{
    size_t most = 0;
    for (int i = 0; i < end->count; i++) {
        const cco_shadow_block *b = &end->blocks[i];
        const size_t n = b->dense ? 0 : (size_t)b->count * (size_t)cco_type_size(b->type);
        most = n > most ? n : most;
    }
    return most;
}

cco_skip cco_check_prepare(cco_check *k, size_t *bytes)
{
    cco_buffer in, out;
    const cco_comm *state = k->of->state;
    *bytes = 0;
    cco_bound_ends(state, &k->call, &in, &out);
    k->in_place = is_in_place(&k->call, state->rank);
    if (gets_nothing(k))
        out.blocks = 0;
    if (validate_check_reduces(k))
        describe_numbers(k);
    if (!cco_covered_make(&k->in, &k->call, &in) || !cco_covered_make(&k->out, &k->call, &out))
        return CCO_SKIP_NO_MEMORY;
    *bytes = k->out.bytes + (keeps_before(k) ? cco_check_end_before(k)->bytes : 0) +
             2 * packed_bytes(&k->out);
    if (k->weighs)
        *bytes += sizeof(double) *
                  (size_t)(validate_check_count_of(&k->in) + validate_check_count_of(&k->out));
    const size_t limit = cco_configured.validate_memory - cco_budget_taken();
    const cco_covered *before = keeps_before(k) ? cco_check_end_before(k) : &k->out;
    if (*bytes > limit || (size_t)(k->out.high - k->out.low) > limit ||
        (size_t)(before->high - before->low) > limit)
        return CCO_SKIP_LARGE;
    const bool mapped = cco_covered_is_mapped(&k->out) && cco_covered_is_mapped(before);
    return mapped ? CCO_CHECKED : CCO_SKIP_HOLES;
}

cco_skip cco_check_copy(cco_check *k)
{
    const size_t packed = packed_bytes(&k->out);
    bool fine = k->out.count == 0 || cco_shadow_make(&k->expected, &k->out);
    if (fine && keeps_before(k) && cco_check_end_before(k)->count > 0)
        fine = cco_shadow_make(&k->before, cco_check_end_before(k));
    for (int i = 0; fine && packed > 0 && i < 2; i++)
        fine = (k->packed[i] = malloc(packed)) != NULL;
    if (fine && k->weighs) {
        k->weights[0] = calloc((size_t)validate_check_count_of(&k->in) + 1, sizeof(double));
        k->weights[1] = calloc((size_t)validate_check_count_of(&k->out) + 1, sizeof(double));
        fine = k->weights[0] != NULL && k->weights[1] != NULL;
    }
    return fine ? CCO_CHECKED : CCO_SKIP_NO_MEMORY;
}

/* The call on the copies.  What a reduction reads in place is given as a send buffer, since some
 * MPIs fail in place (docs/mpi-defects.md). */
cco_call cco_check_call(const cco_check *k)
{
    cco_call c = k->call;
    c.by = CCO_CALLER_INTERNAL;
    if (k->in_place && validate_check_reduces(k) && k->before.memory != NULL)
        c.sendbuf = cco_shadowed(&k->before, k->call.recvbuf);
    if (k->expected.memory != NULL)
        c.recvbuf = cco_shadowed(&k->expected, k->call.recvbuf);
    if (c.coll == CCO_BCAST)
        c.sendbuf = c.recvbuf;
    return c;
}

cco_call cco_check_weighing(const cco_check *k, const cco_call *done)
{
    cco_call c = *done;
    if (k->in.count > 0) {
        const char *from = k->in.blocks[0].at;
        const bool copied = k->in_place && k->before.memory != NULL;
        cco_numbers_weigh(&k->numbers, copied ? cco_shadowed(&k->before, from) : from,
                          (size_t)validate_check_count_of(&k->in), k->weights[0]);
    }
    c.sendbuf = k->weights[0];
    c.recvbuf = k->weights[1];
    c.sendtype = c.recvtype = MPI_DOUBLE;
    c.op = MPI_SUM;
    return c;
}

static int add_weights(const cco_check *k, const cco_call *done)
{
    const cco_call c = cco_check_weighing(k, done);
    return cco_reference_run(k->of->state, &(cco_reference){.defect = NULL}, &c);
}

bool cco_check_again(cco_check *k)
{
    const cco_call c = cco_check_call(k);
    if (cco_reference_run(k->of->state, &k->reference, &c) != MPI_SUCCESS)
        return false;
    return !k->weighs || add_weights(k, &c) == MPI_SUCCESS;
}

void cco_check_empty(cco_check *k)
{
    cco_covered_free(&k->in);
    cco_covered_free(&k->out);
    cco_shadow_free(&k->before);
    cco_shadow_free(&k->expected);
    for (int i = 0; i < 2; i++) {
        free(k->weights[i]);
        free(k->packed[i]);
        k->weights[i] = NULL;
        k->packed[i] = NULL;
    }
}

/* The name tells it for types that C does not know, such as Fortran's REAL(16). */
static bool name_is_exact(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Type_get_name(type, name, &length);
    return strstr(name, "REAL") == NULL && strstr(name, "COMPLEX") == NULL &&
           strstr(name, "DOUBLE") == NULL && strstr(name, "FLOAT") == NULL;
}

static bool named_is_exact(MPI_Datatype type)
{
    const cco_number number = cco_number_of(type);
    if (number == CCO_NUMBERS)
        return name_is_exact(type);
    return number <= CCO_U64 || (number >= CCO_SHORT_INT && number <= CCO_LONG_INT);
}

static bool parts_are_exact(MPI_Datatype type)
{
    cco_type_contents contents;
    if (cco_type_contents_get(type, &contents) != MPI_SUCCESS)
        return false;
    bool exact = true;
    for (size_t i = 0; exact && i < contents.types; i++)
        exact = cco_leaves_are_exact(contents.inner[i]);
    cco_type_contents_release(&contents);
    return exact;
}

bool cco_leaves_are_exact(MPI_Datatype type)
{
    switch (type != MPI_DATATYPE_NULL ? cco_type_combiner(type) : -1) {
    case -1:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
        return false;
    case MPI_COMBINER_F90_INTEGER:
        return true;
    case MPI_COMBINER_NAMED:
        return named_is_exact(type);
    default:
        return parts_are_exact(type);
    }
}
