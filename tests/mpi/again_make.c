/* SPDX-License-Identifier: BSD-3-Clause */
/* again_make.c - see again.h: handles that come and go, buffers, counts, and the call that they
 * make. */
#include "again.h"

#include <stdint.h>
#include <string.h>

#include "chance/dice.h"
#include "testing/testing.h"

enum { PAST = 64 }; /* bytes after a buffer that nobody may touch */

struct place again_comms[AGAIN_PLACES];

static struct type {
    MPI_Datatype handle;
    int ints, extent; /* both in ints; or bytes, of a type of the standard */
} types[AGAIN_PLACES];

static struct operation {
    MPI_Op handle;
    MPI_User_function *user;
    int commutes;
} ops[AGAIN_PLACES];

/* Sent, received, its copies: by the MPI, and as it was before. */
static _Alignas(64) char memory[4][AGAIN_ROOM];
enum { SENT, RECEIVED, BY_MPI, BEFORE };

static int counts[AGAIN_PLACES][2][AGAIN_RANKS], displs[AGAIN_PLACES][2][AGAIN_RANKS];
static MPI_Aint bytes[AGAIN_PLACES][2][AGAIN_RANKS];
static MPI_Datatype kinds[AGAIN_PLACES][2][AGAIN_RANKS];

void again_comm_make(int place, int kind)
{
    struct place *p = &again_comms[place];
    int size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (place == 0)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (const int[]){0}, 0, &p->comm);
    else if (kind == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, kind == 1 ? rank % 2 : 0, -rank, &p->comm);
    MPI_Comm_size(p->comm, &p->size);
    MPI_Comm_rank(p->comm, &p->rank);
}

void again_comm_free(int place)
{
    MPI_Comm_free(&again_comms[place].comm);
}

void again_type_make(int place, int ints, bool apart)
{
    struct type *t = &types[place];
    MPI_Datatype vector;
    t->ints = ints;
    t->extent = apart ? 2 * ints : ints;
    if (!apart) {
        MPI_Type_contiguous(ints, MPI_INT, &t->handle);
    } else {
        MPI_Type_vector(ints, 1, 2, MPI_INT, &vector);
        MPI_Type_create_resized(vector, 0, t->extent * (MPI_Aint)sizeof(int), &t->handle);
        MPI_Type_free(&vector);
    }
    MPI_Type_commit(&t->handle);
}

void again_type_free(int place)
{
    MPI_Type_free(&types[place].handle);
}

/* One for each int of an element, whose type may be any of ours. */
#define USER(name, expression)                                                                     \
    static void name(void *in, void *inout, int *n, MPI_Datatype *type)                            \
    {                                                                                              \
        const int *a = in;                                                                         \
        int *b = inout, size;                                                                      \
        MPI_Aint low, extent;                                                                      \
        PMPI_Type_size(*type, &size);                                                              \
        PMPI_Type_get_extent(*type, &low, &extent);                                                \
        for (long i = 0, step = extent / size; i < (long)*n * (size / (long)sizeof(int)); i++)     \
            b[i * step] = (expression);                                                            \
    }
USER(sum, a[i * step] + b[i * step])
USER(left, a[i * step])
USER(either, a[i * step] ^ b[i * step])

void again_op_make(int place, int kind)
{
    static MPI_User_function *const users[] = {sum, left, either};
    ops[place].user = users[kind];
    ops[place].commutes = kind != 1;
    MPI_Op_create(users[kind], ops[place].commutes, &ops[place].handle);
}

void again_op_free(int place)
{
    MPI_Op_free(&ops[place].handle);
}

static struct type type_of(enum base base, int place)
{
    const struct type standard[BASES] = {{MPI_INT, 1, sizeof(int)},
                                         {MPI_DOUBLE, 1, sizeof(double)},
                                         {MPI_BYTE, 1, 1},
                                         {MPI_SHORT, 1, sizeof(short)},
                                         {MPI_2INT, 1, 2 * sizeof(int)}};
    struct type t = standard[base];
    if (place > 0) {
        t = types[place - 1];
        t.extent *= (int)sizeof(int);
    }
    return t;
}

/* Small numbers, of which sums and products are exact. */
static void fill(char *at, size_t n, enum base base, unsigned long seed)
{
    for (size_t i = 0; i < n; i++) {
        dice d = dice_of(seed, i, 0);
        const int number = below(&d, 7);
        if (base == OF_DOUBLE && (i + 1) * sizeof(double) <= n)
            memcpy(at + i * sizeof(double), &(double){number}, sizeof(double));
        else if (base == OF_SHORT && (i + 1) * sizeof(short) <= n)
            memcpy(at + i * sizeof(short), &(short){(short)number}, sizeof(short));
        else if (base == OF_BYTE)
            at[i] = (char)below(&d, 256);
        else if ((base == OF_INT || base == OF_PAIR) && (i + 1) * sizeof(int) <= n)
            memcpy(at + i * sizeof(int), &number, sizeof number);
        else if (base != OF_BYTE)
            return;
    }
}

static MPI_Op op_of(const struct wish *w, struct call *call)
{
    static const int ranges[BASES] = {8, 4, 3, 4, 2};
    const MPI_Op numbers[] = {MPI_SUM,  MPI_MAX, MPI_MIN,  MPI_PROD,
                              MPI_BAND, MPI_BOR, MPI_LXOR, MPI_LAND};
    const MPI_Op bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR}, places[] = {MPI_MAXLOC, MPI_MINLOC};
    call->commutes = 1;
    if (w->base == OF_INT && (w->op < AGAIN_PLACES || w->type > 0)) {
        const struct operation *op = &ops[w->op % AGAIN_PLACES];
        call->user = op->user;
        call->commutes = op->commutes;
        return op->handle;
    }
    const int which = w->op % ranges[w->base];
    return w->base == OF_BYTE ? bits[which] : w->base == OF_PAIR ? places[which] : numbers[which];
}

/* Elements of the base type from one rank to another, one of two for gatherv and its like. */
static int count_of(const struct wish *w, int from, int to)
{
    const bool turned = w->in_place && from > to;
    dice d = dice_of(w->seed, (unsigned long)(turned ? to : from) + 1,
                     (unsigned long)(turned ? from : to) + 1);
    const int n = 6 * below(&d, w->n / 6 + 1);
    const bool other = (from == w->from && to == w->to) ||
                       (w->in_place && from == w->to && to == w->from);
    return other ? n + w->more : n;
}

/* The count of block `i` on one side of a call. */
static int count_at(const struct wish *w, bool sent, int i)
{
    const struct coll_shape *shape = &coll_shapes[w->coll];
    const struct place *p = &again_comms[w->comm];
    if (!shape->uneven)
        return w->n;
    if (shape->near) { /* the neighbour before, and the one after */
        const int peer = p->rank + (i == 0 ? -1 : 1);
        if (!shape->sends_all)
            return count_of(w, sent ? p->rank : peer, 0);
        return sent ? count_of(w, p->rank, peer) : count_of(w, peer, p->rank);
    }
    if (shape->sends_all && shape->receives_all)
        return sent ? count_of(w, p->rank, i) : count_of(w, i, p->rank);
    return count_of(w, i, 0);
}

static bool divides(const struct wish *w, bool sent, int blocks, int ints)
{
    for (int i = 0; i < blocks; i++)
        if (count_at(w, sent, i) % ints != 0)
            return false;
    return true;
}

struct end {
    struct type type;
    int blocks;   /* one or all */
    int first;    /* whose is the one block */
    size_t bytes; /* of all */
};

/* One end of a call: its type, counts and places. */
static struct end lay_out(const struct wish *w, const struct habit *h, bool sent, bool all)
{
    const struct coll_shape *shape = &coll_shapes[w->coll];
    const struct place *p = &again_comms[w->comm];
    const int side = sent ? 0 : 1, place = shape->reduces ? w->type : h->type[side];
    struct end end = {.type = type_of(w->base, w->base == OF_INT ? place : 0),
                      .blocks = !all          ? 1
                                : shape->near ? 2
                                              : p->size,
                      .first = all ? 0 : p->rank};
    if (!shape->reduces && !divides(w, sent, all ? end.blocks : end.first + 1, end.type.ints))
        end.type = type_of(w->base, 0);
    int next = 0;
    MPI_Aint at = 0;
    for (int i = 0; i < end.blocks; i++) {
        const int n = count_at(w, sent, end.first + i);
        const int count = shape->reduces ? n : n / end.type.ints;
        const bool other = w->coll == COLL_Alltoallw || w->coll == COLL_Neighbor_alltoallw;
        const struct type type = other && i % 2 ? type_of(w->base, 0) : end.type;
        counts[h->arrays][side][i] = other ? n / type.ints : count;
        kinds[h->arrays][side][i] = type.handle;
        bytes[h->arrays][side][i] = at;
        displs[h->arrays][side][i] = other ? (int)at : next;
        next += count + h->gap;
        at += (MPI_Aint)type.extent * (counts[h->arrays][side][i] + h->gap);
    }
    end.bytes = (size_t)at > (size_t)next * (size_t)end.type.extent
                    ? (size_t)at
                    : (size_t)next * (size_t)end.type.extent;
    return end;
}

static void take_sent(struct call *c, const struct end *end, const struct habit *h)
{
    c->sendtype = end->type.handle;
    c->sendcount = counts[h->arrays][0][0];
    c->sendcounts = counts[h->arrays][0];
    c->senddispls = displs[h->arrays][0];
    c->sendbytes = bytes[h->arrays][0];
    c->sendtypes = kinds[h->arrays][0];
    c->sendbuf = memory[SENT] + 16 * h->shift[0];
}

static void take_received(struct call *c, const struct end *end, const struct habit *h)
{
    c->recvtype = end->type.handle;
    c->recvcount = counts[h->arrays][1][0];
    c->recvcounts = counts[h->arrays][1];
    c->recvdispls = displs[h->arrays][1];
    c->recvbytes = bytes[h->arrays][1];
    c->recvtypes = kinds[h->arrays][1];
    c->recvbuf = memory[RECEIVED] + 16 * h->shift[1];
}

/* A buffer that does not count on this rank, or is the other one. */
static void put_in_place(const struct wish *w, struct made *made)
{
    const struct coll_shape *shape = &coll_shapes[w->coll];
    const struct place *p = &again_comms[w->comm];
    struct call *c = &made->call;
    const bool has_all = !shape->rooted || p->rank == c->root;
    if (w->in_place && shape->in_place && has_all) {
        if (shape->rooted && shape->sends_all)
            c->recvbuf = MPI_IN_PLACE;
        else
            c->sendbuf = MPI_IN_PLACE;
    }
    made->compares = c->recvbuf != MPI_IN_PLACE && !(w->coll == COLL_Exscan && p->rank == 0) &&
                     (has_all || w->coll == COLL_Bcast || shape->sends_all);
}

void again_make(const struct wish *w, const struct habit *h, unsigned data, struct made *made)
{
    const struct coll_shape *shape = &coll_shapes[w->coll];
    const struct place *p = &again_comms[w->comm];
    struct call *c = &made->call;
    *made = (struct made){.call = {.coll = w->coll, .comm = p->comm, .rank = p->rank}};
    c->root = w->root % p->size;
    c->op = shape->reduces ? op_of(w, c) : MPI_OP_NULL;
    const bool scatters = shape->reduces && shape->sends_all;
    struct end out = lay_out(w, h, false, shape->receives_all || scatters);
    struct end in = shape->reduces ? out : lay_out(w, h, true, shape->sends_all);
    take_received(c, &out, h);
    take_sent(c, &in, h);
    if (shape->reduces && !scatters)
        c->recvcount = w->n;
    made->sent = in.bytes;
    made->received = out.bytes;
    const unsigned long seed = dice_of(data, (unsigned long)p->rank, 9);
    fill(memory[SENT] + 16 * h->shift[0], made->sent + PAST, w->base, seed);
    fill(memory[RECEIVED] + 16 * h->shift[1], made->received + PAST, w->base, seed + 1);
    memcpy(memory[BEFORE], memory[SENT] + 16 * h->shift[0], made->sent + PAST);
    memcpy(memory[BY_MPI], c->recvbuf, made->received + PAST);
    made->received += PAST;
    made->sent += PAST;
    put_in_place(w, made);
}

bool again_sent_is_whole(const struct made *made)
{
    return made->call.sendbuf == MPI_IN_PLACE ||
           memcmp(made->call.sendbuf, memory[BEFORE], made->sent) == 0;
}

/* What MPI_IN_PLACE stands for, apart from the buffer that is received. */
static void move_apart(const struct wish *w, const struct made *made, struct call *c)
{
    static char copy[AGAIN_ROOM], nowhere[AGAIN_ROOM];
    const struct coll_shape *shape = &coll_shapes[w->coll];
    const struct place *p = &again_comms[w->comm];
    if (c->recvbuf == MPI_IN_PLACE) {
        c->recvbuf = nowhere;
        c->recvtype = c->sendtype;
        c->recvcount = shape->uneven ? c->sendcounts[p->rank] : c->sendcount;
        return;
    }
    c->recvbuf = memory[BY_MPI];
    if (c->sendbuf != MPI_IN_PLACE)
        return;
    memcpy(copy, memory[BY_MPI], made->received);
    c->sendbuf = copy;
    if (shape->reduces)
        return;
    c->sendtype = c->recvtype;
    c->sendcount = shape->uneven ? c->recvcounts[p->rank] : c->recvcount;
    c->sendcounts = c->recvcounts;
    c->senddispls = c->recvdispls;
    c->sendtypes = c->recvtypes;
    if (!shape->sends_all) {
        MPI_Aint low, extent;
        PMPI_Type_get_extent(c->recvtype, &low, &extent);
        const int before = shape->uneven ? c->recvdispls[p->rank] : p->rank * c->recvcount;
        c->sendbuf = copy + before * extent;
    }
}

const char *again_reference(const struct wish *w, const struct made *made)
{
    struct call c = made->call;
    move_apart(w, made, &c);
    const int rc = call_reference(&c);
    CHECK(rc == MPI_SUCCESS, "the MPI's own call returns %d", rc);
    return memory[BY_MPI];
}
