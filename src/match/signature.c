/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.c - see signature.h. */
#include "match/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/log.h"
#include "observe/where_comm.h"

static int64_t signature_times(MPI_Count count, MPI_Datatype type)
{
    return (int64_t)(count * cco_type_size(type));
}

static int64_t sent_to(const cco_call *c, int peer)
{
    const MPI_Datatype type = c->coll == CCO_ALLTOALLW ? c->sendtypes[peer] : c->sendtype;
    return signature_times(cco_count_at(c, c->sendcounts, peer), type);
}

static int64_t taken_from(const cco_call *c, int peer)
{
    const MPI_Datatype type = c->coll == CCO_ALLTOALLW ? c->recvtypes[peer] : c->recvtype;
    return signature_times(cco_count_at(c, c->recvcounts, peer), type);
}

/* What the root of a gatherv or scatterv, and what another rank exchanges with it. */
static void signature_rooted(const cco_comm *state, const cco_call *c, int64_t *give, int64_t *take)
{
    const bool gathers = c->coll == CCO_GATHERV,
               in_place = c->sendbuf == MPI_IN_PLACE || c->recvbuf == MPI_IN_PLACE;
    for (int i = 0; state->rank == c->root && i < state->size; i++)
        if (gathers)
            take[i] = taken_from(c, i);
        else
            give[i] = sent_to(c, i);
    if (in_place)
        give[state->rank] = take[state->rank] = -1;
    else if (gathers)
        give[c->root] = signature_times(c->sendcount, c->sendtype);
    else
        take[c->root] = signature_times(c->recvcount, c->recvtype);
}

static void between_all(const cco_comm *state, const cco_call *c, int64_t *give, int64_t *take)
{
    const bool in_place = c->sendbuf == MPI_IN_PLACE, gathers = c->coll == CCO_ALLGATHERV;
    for (int i = 0; i < state->size; i++) {
        take[i] = taken_from(c, i);
        if (gathers)
            give[i] = in_place ? taken_from(c, state->rank)
                               : signature_times(c->sendcount, c->sendtype);
        else
            give[i] = in_place ? taken_from(c, i) : sent_to(c, i);
    }
}

bool cco_signature_row(const cco_comm *state, const cco_call *call, int64_t *row)
{
    int64_t *give = row, *take = row + state->size;
    for (int i = 0; i < 2 * state->size; i++)
        row[i] = -1;
    switch (call->coll) {
    case CCO_GATHERV:
    case CCO_SCATTERV:
        signature_rooted(state, call, give, take);
        return true;
    case CCO_ALLGATHERV:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        between_all(state, call, give, take);
        return true;
    default:
        return false;
    }
}

/* The finalizer of splitmix64. */
static uint64_t signature_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t signature_of_pair(int from, int to, int64_t bytes)
{
    return bytes < 0 ? 0
                     : signature_mixed(
                           signature_mixed(signature_mixed((uint64_t)from + 1) + (uint64_t)to) +
                           (uint64_t)bytes);
}

static uint64_t pairs_of(const cco_comm *state, const cco_call *call)
{
    uint64_t sum = 0;
    int64_t *row = malloc(sizeof *row * 2 * (size_t)state->size);
    if (row == NULL)
        cco_fatal("no memory for CRESTA_DEBUG=match");
    if (cco_signature_row(state, call, row))
        for (int i = 0; i < state->size; i++)
            sum += signature_of_pair(state->rank, i, row[i]) -
                   signature_of_pair(i, state->rank, row[state->size + i]);
    free(row);
    return sum;
}

static uint64_t counts_of(const cco_comm *state, const cco_call *call)
{
    uint64_t hash = 0;
    for (int i = 0; call->coll == CCO_REDUCE_SCATTER && i < state->size; i++)
        hash = signature_mixed(hash + (uint64_t)taken_from(call, i) + 1);
    return hash;
}

cco_signature cco_signature_of(const cco_comm *state, const cco_call *call, bool valid,
                               cco_signature_begun begun)
{
    const int properties = cco_coll_infos[call->coll].properties;
    const bool reduces = properties & CCO_REDUCTION;
    if (!valid)
        return (cco_signature){.coll = CCO_SIGNATURE_INVALID, .begun = begun};
    return (cco_signature){
        .coll = (int64_t)call->coll,
        .begun = begun,
        .root = properties & CCO_ROOTED ? call->root : -1,
        .bytes = properties & CCO_SIZED ? (int64_t)cco_bytes(call, state->rank, state->size) : -1,
        .op = reduces ? cco_hash(0, cco_where_op_name(call->op)) : 0,
        .counts = counts_of(state, call),
        .pairs = begun ? 0 : pairs_of(state, call),
    };
}

bool cco_signature_same(const cco_signature *a, const cco_signature *b)
{
    return a->coll == b->coll && a->begun == b->begun && a->root == b->root &&
           a->bytes == b->bytes && a->op == b->op && a->counts == b->counts;
}

static const char *op_name(uint64_t hash)
{
    static const char *const names[] = {"MPI_SUM",  "MPI_MAX",  "MPI_MIN",    "MPI_PROD",
                                        "MPI_LAND", "MPI_BAND", "MPI_LOR",    "MPI_BOR",
                                        "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cco_hash(0, names[i]) == hash)
            return names[i];
    return "an operation of the program's own";
}

void cco_signature_show(const cco_signature *s, char *text, size_t room)
{
    char name[64];
    int n;
    if (s->coll == CCO_SIGNATURE_INVALID) {
        snprintf(text, room, "a collective with arguments that the MPI refuses");
        return;
    }
    if (s->coll == CCO_SIGNATURE_END) {
        snprintf(text, room, "no more calls until MPI_Comm_free or MPI_Finalize");
        return;
    }
    snprintf(name, sizeof name, "%s", cco_coll_infos[s->coll].mpi_name);
    if (s->begun == CCO_SIGNATURE_STARTS)
        name[0] = (char)(name[0] - 'A' + 'a');
    n = snprintf(text, room, "MPI_%s%s%s", s->begun == CCO_SIGNATURE_STARTS ? "I" : "", name,
                 s->begun == CCO_SIGNATURE_PERSISTS ? "_init" : "");
    if (s->root >= 0)
        n += snprintf(text + n, room - (size_t)n, ", root %lld", (long long)s->root);
    if (s->op != 0)
        n += snprintf(text + n, room - (size_t)n, ", %s", op_name(s->op));
    if (s->bytes >= 0)
        n += snprintf(text + n, room - (size_t)n, ", %lld byte%s", (long long)s->bytes,
                      cco_plural(s->bytes));
    if (s->counts != 0)
        snprintf(text + n, room - (size_t)n, ", counts with the hash %llx",
                 (unsigned long long)s->counts);
}
