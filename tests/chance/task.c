/* SPDX-License-Identifier: BSD-3-Clause */
/* task.c - see task.h: makes the arguments of each collective at random, and its buffers.  What
 * becomes of it: task_run.c. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "known.h"

/* What all ranks of the call know of it. */
struct plan {
    struct task *task;
    struct slot *slot;
    dice shared, own;
    MPI_Datatype base;
    int unit, n, most;
};

static int size_by_chance(dice *d)
{
    const int which = below(d, 40);
    if (which < 6)
        return 0;
    if (which < 12)
        return 1;
    if (which < 28)
        return 1 + below(d, 20);
    if (which < 36)
        return below(d, 600);
    return below(d, which < 39 ? 5000 : 20000);
}

/* Elements from s for d. */
static int uneven(const struct plan *p, int s, int d)
{
    dice own = dice_of(p->shared, (unsigned long)s, (unsigned long)d);
    return one_in(&own, 4) ? 0 : p->unit * below(&own, p->most + 1);
}

static void set_send(struct call *c, const struct side *side)
{
    c->sendcount = side->counts[0];
    c->sendtype = side->types[0];
    c->sendcounts = side->counts;
    c->senddispls = side->displs;
    c->sendtypes = side->types;
}

static void set_recv(struct call *c, const struct side *side)
{
    c->recvcount = side->counts[0];
    c->recvtype = side->types[0];
    c->recvcounts = side->counts;
    c->recvdispls = side->displs;
    c->recvtypes = side->types;
}

static void send_blocks(struct plan *p, int blocks, const int *n, enum placing placing)
{
    struct task *t = p->task;
    side_make(&t->send, blocks, n, p->base, p->unit, placing, t->zero, &p->own);
    set_send(&t->call, &t->send);
}

static void recv_blocks(struct plan *p, int blocks, const int *n, enum placing placing)
{
    struct task *t = p->task;
    side_make(&t->recv, blocks, n, p->base, p->unit, placing, t->zero, &p->own);
    set_recv(&t->call, &t->recv);
}

static bool at_root(const struct plan *p)
{
    const struct call *c = &p->task->call;
    return !coll_shapes[c->coll].rooted || p->slot->rank == c->root;
}

/* The root of a scatter gives to itself without its receive buffer, if in place. */
static bool scatters(enum coll coll)
{
    return coll_shapes[coll].moves && coll_shapes[coll].rooted && coll_shapes[coll].sends_all;
}

static void move_even(struct plan *p)
{
    struct task *t = p->task;
    const struct coll_shape *shape = &coll_shapes[t->call.coll];
    const bool root = at_root(p), scatter = scatters(t->call.coll);
    const int size = p->slot->size, n = p->n;
    t->in_place = t->in_place && root;
    if (shape->in_place && (scatter ? root : !t->in_place)) /* a bcast has one buffer */
        send_blocks(p, shape->sends_all ? size : 1, &n, REGULAR);
    else if (t->in_place && !shape->rooted)
        p->own = p->shared;
    if (scatter ? !t->in_place : root || !shape->receives_all)
        recv_blocks(p, shape->receives_all ? size : 1, &n, REGULAR);
}

static void move_uneven(struct plan *p)
{
    struct task *t = p->task;
    const int size = p->slot->size, me = p->slot->rank, root = t->call.root;
    int one, out[RANKS], in[RANKS];
    for (int i = 0; i < size; i++) {
        const bool upper = t->in_place && i < me; /* in place what i gives is what it gets */
        out[i] = t->call.coll == COLL_Scatterv ? uneven(p, 0, i) : uneven(p, me, i);
        in[i] = t->call.coll == COLL_Gatherv || t->call.coll == COLL_Allgatherv ? uneven(p, i, 0)
                : t->in_place && !upper                                         ? uneven(p, me, i)
                                                                                : uneven(p, i, me);
    }
    switch (t->call.coll) {
    case COLL_Gatherv:
    case COLL_Allgatherv:
        one = uneven(p, me, 0);
        t->in_place = t->in_place && (t->call.coll == COLL_Allgatherv || me == root);
        if (!t->in_place)
            send_blocks(p, 1, &one, t->call.coll == COLL_Allgatherv ? SINGLES : REGULAR);
        if (t->call.coll == COLL_Allgatherv) /* MPICH 4.0 cuts by extents: mpi-defects.md */
            p->own = p->shared;
        if (t->call.coll == COLL_Allgatherv || me == root)
            recv_blocks(p, size, in, ELEMENTS);
        break;
    case COLL_Scatterv:
        one = uneven(p, 0, me);
        t->in_place = t->in_place && me == root;
        if (me == root)
            send_blocks(p, size, out, ELEMENTS);
        if (!t->in_place)
            recv_blocks(p, 1, &one, REGULAR);
        break;
    default: {
        const enum placing placing = t->call.coll == COLL_Alltoallv ? ELEMENTS : IN_BYTES;
        if (!t->in_place)
            send_blocks(p, size, out, placing);
        recv_blocks(p, size, in, placing);
        break;
    }
    }
}

/* MPICH 4.0 takes too little memory for gaps at the end of elements (docs/mpi-defects.md). */
static bool gaps_fine(enum coll coll)
{
#ifdef LIKE_MPICH
    return coll != COLL_Reduce_scatter && coll != COLL_Reduce_scatter_block;
#else
    return coll < COLLS;
#endif
}

/* The counts of a reduce_scatter stay with the task, in the side of the receiver. */
static void reduce(struct plan *p)
{
    struct task *t = p->task;
    struct kit kit;
    const struct coll_shape *shape = &coll_shapes[t->call.coll];
    const int size = p->slot->size, me = p->slot->rank;
    int before = p->n, after = p->n, counts[RANKS];
    dice d = p->shared;
    kit_by_chance(&kit, gaps_fine(t->call.coll), &d);
    for (int i = 0; i < size; i++)
        counts[i] = shape->uneven ? uneven(p, i, i) : p->n;
    if (shape->sends_all) {
        before = 0;
        for (int i = 0; i < size; i++)
            before += counts[i];
        after = counts[me];
    }
    t->in_place = t->in_place && at_root(p);
    if (!t->in_place)
        side_one(&t->send, before, &kit.shape);
    if (at_root(p))
        side_one(&t->recv, t->in_place ? before : after, &kit.shape);
    struct side *owner = t->in_place ? &t->recv : &t->send;
    owner->shape[0].made = kit.shape.made;
    owner->counts = realloc(owner->counts, sizeof *counts * (size_t)(size + 1));
    memcpy(owner->counts, counts, sizeof *counts * (size_t)size);
    t->call.recvcounts = owner->counts;
    t->call.recvcount = after;
    t->call.recvtype = kit.type;
    t->call.op = kit.op;
    t->call.user = kit.user;
    t->call.commutes = kit.commutes;
    t->op_made = kit.user != NULL;
    t->cell = kit.cell;
    t->values = kit.values;
    t->positive = kit.positive;
    t->unseen = t->call.coll == COLL_Exscan && me == 0;
    if (t->in_place) /* what reduce_scatter leaves behind the result is nobody's */
        side_see(&t->recv, after);
}

static bool alltoall(enum coll coll)
{
    return coll_shapes[coll].sends_all && coll_shapes[coll].receives_all;
}

/* Where no rank may be in place because the MPI itself is wrong there (known.c). */
static bool may_be_in_place(struct plan *p)
{
    const struct task *t = p->task;
    const enum mode mode = t->mode == BLOCKING || t->mode == PERSISTENT ? t->mode : NONBLOCKING;
    struct call call = t->call;
    int counts[RANKS], total = 0;
    if (!coll_shapes[call.coll].in_place || !has(CLASS_inplace))
        return false;
    for (int i = 0; i < p->slot->size; i++)
        total += counts[i] = uneven(p, i, i);
    call.recvcounts = counts;
    call.recvcount = 4 * p->n; /* its limits are in ints, elements have up to 16 bytes */
    if (call.coll == COLL_Reduce_scatter && total > 1000)
        return false;
    return !known_bug(&call, mode, true) && !known_bug(&call, BLOCKING, true);
}

static void arguments(struct plan *p)
{
    const struct coll_shape *shape = &coll_shapes[p->task->call.coll];
    if (shape->reduces)
        reduce(p);
    else if (shape->uneven)
        move_uneven(p);
    else if (shape->moves)
        move_even(p);
}

/* MPI_Ialltoallw of Open MPI 4.1 looks for as many types as a grid has neighbours
 * (docs/mpi-defects.md): where the program itself calls it, there are more than it needs.
 * MPI_Alltoallw and begins look at those of its ranks only, whatever they come to. */
static void more_types(const struct task *t, const struct side *side)
{
    for (int i = 0; i < SPARE && side->types; i++)
        if (t->mode == BLOCKING || (t->mode == SPLIT && !program.plain))
            memset(&side->types[side->blocks + i], 0x5a, sizeof *side->types);
        else
            side->types[side->blocks + i] = MPI_BYTE;
}

/* Buffers of the sides that there are, elsewhere what does not count. */
static void buffers(struct plan *p)
{
    struct task *t = p->task;
    const bool lend = one_in(&p->own, 2);
    if (t->send.bytes > 0)
        side_memory(&t->send, p->slot, lend);
    if (t->recv.bytes > 0)
        side_memory(&t->recv, p->slot, lend);
    t->call.sendbuf = t->in_place ? MPI_IN_PLACE : t->send.start;
    t->call.recvbuf = t->recv.start;
    if (t->in_place && scatters(t->call.coll)) {
        t->call.sendbuf = t->send.start;
        t->call.recvbuf = MPI_IN_PLACE;
    }
}

/* Elements of a type without data on one rank, none on another: neither MPI takes that in all calls
 * (docs/mpi-defects.md).  Where counts are equal by rule, all ranks have two elements or none. */
static bool zero_fine(enum coll coll, enum mode mode)
{
    if (coll == COLL_Gatherv || coll == COLL_Scatterv || coll == COLL_Allgatherv)
        return false;
#ifdef OPEN_MPI
    if (mode != BLOCKING && (coll == COLL_Alltoallv || coll == COLL_Alltoallw))
        return false;
#endif
    return mode < MODES;
}

/* Intel MPI's own allgather is wrong where the types of the two sides differ, as they do here, and
 * its gather where data begin behind their address (docs/mpi-defects.md). */
static enum coll fine_one(enum coll coll)
{
#ifdef I_MPI_VERSION
    return coll == COLL_Allgather ? COLL_Allgatherv : coll == COLL_Gather ? COLL_Gatherv : coll;
#else
    return coll;
#endif
}

struct task *task_collective(struct slot *slot, enum coll wanted, enum mode mode, dice d)
{
    const enum coll coll = fine_one(wanted);
    struct task *t = calloc(1, sizeof *t);
    struct plan p = {.task = t, .slot = slot};
    t->slot = slot;
    t->mode = mode;
    t->partner = NO_PARTNER;
    t->call = (struct call){.coll = coll,
                            .sendtype = MPI_DATATYPE_NULL,
                            .recvtype = MPI_DATATYPE_NULL,
                            .op = MPI_OP_NULL,
                            .root = below(&d, slot->size),
                            .comm = slot->comm};
    p.unit = 1 + below(&d, 3);
    p.most = size_by_chance(&d);
    p.base = base_by_chance(&d);
    if (alltoall(coll) && p.most > 2000)
        p.most /= 8;
    p.n = p.unit * p.most;
    t->zero = one_in(&d, 3) && has(CLASS_zerosize) && zero_fine(coll, mode);
    if (coll == COLL_Allgatherv) /* Open MPI 4.1 decides by the sender's type: mpi-defects.md */
        p.unit = 1;
    p.shared = dice_next(&d);
    p.own = dice_of(p.shared, 77, (unsigned long)slot->rank);
    t->in_place = one_in(&d, 3) && may_be_in_place(&p);
    if (t->in_place && alltoall(coll))
        t->zero = false;
    arguments(&p);
    more_types(t, &t->send);
    more_types(t, &t->recv);
    buffers(&p);
    return t;
}

struct task *task_message(struct slot *slot, bool sending, int tag, dice d)
{
    struct task *t = calloc(1, sizeof *t);
    struct plan p = {.task = t, .slot = slot};
    const int shift = below(&d, slot->size);
    int n, size;
    t->slot = slot;
    t->tag = tag;
    t->partner = (slot->rank + (sending ? shift : slot->size - shift)) % slot->size;
    t->call.coll = COLLS;
    p.unit = 1 + below(&d, 3);
    p.base = base_by_chance(&d);
    n = p.unit * size_by_chance(&d);
    MPI_Type_size(p.base, &size);
    t->n = n * size;
    p.own = dice_of(dice_next(&d), 78 + (unsigned long)sending, (unsigned long)slot->rank);
    if (sending)
        send_blocks(&p, 1, &n, REGULAR);
    else
        recv_blocks(&p, 1, &n, REGULAR);
    buffers(&p);
    return t;
}
