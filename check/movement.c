/* SPDX-License-Identifier: BSD-3-Clause */
/* movement.c - the collectives that move data, against values known beforehand.
 *
 * Int k of the block from rank s to rank d is value(s, d, k). It is laid out by the send type of s
 * and the receive type of d, which differ from rank to rank in some mixes: MPI asks for equal
 * signatures only.
 */
#include "report.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#define LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { NO_ROOT = -1 };

/* Which layout a rank sends and receives with; WHOLE is one element that holds the block. */
enum mix { ALL_INTS, TO_GAPS, FROM_GAPS, BY_RANK, TO_COLUMN, WHOLE_BY_RANK, MIXES };
static const char *const mix_names[MIXES] = {"ints",    "ints to gaps",   "gaps to negative",
                                             "by rank", "ints to column", "whole by rank"};

struct problem {
    const struct group *group;
    enum coll coll;
    enum mix mix;
    int n, root;
    bool in_place;
};

static bool all_to_all(const struct problem *p)
{
    return coll_shapes[p->coll].sends_all && coll_shapes[p->coll].receives_all;
}

/* Ints from rank s to rank d; in place, what two ranks exchange is equal. */
static int block(const struct problem *p, int s, int d)
{
    if (!coll_shapes[p->coll].uneven)
        return p->n;
    if (all_to_all(p))
        return p->n * ((s + (p->in_place ? d : 2 * d) + 1) % 3);
    return p->n * (((coll_shapes[p->coll].sends_all ? d : s) + 1) % 3);
}

static int value(const struct problem *p, int s, int d, int k)
{
    if (!coll_shapes[p->coll].sends_all)
        d = 0; /* everyone gets the same */
    return (int)((unsigned)(s + 1) * 1000003U + (unsigned)(d + 1) * 7919U + (unsigned)k * 31U +
                 (unsigned)p->n);
}

static void put(const struct problem *p, const struct side *side, unsigned char *state, int b,
                int s, int d)
{
    const int n = block(p, s, d);
    int *values = malloc((size_t)(n + 1) * sizeof *values);
    for (int k = 0; k < n; k++)
        values[k] = value(p, s, d, k);
    side_put(side, state, b, values);
    free(values);
}

static enum layout_name named(const struct problem *p, bool sending)
{
    const int rank = p->in_place && all_to_all(p) ? 0 : p->group->rank;
    switch (p->mix) {
    case TO_GAPS:
        return sending ? INTS : GAPS;
    case FROM_GAPS:
        return sending ? GAPS : NEGATIVE;
    case TO_COLUMN:
        return sending ? INTS : COLUMN;
    case BY_RANK:
        return (enum layout_name)((rank + (sending ? 1 : 0)) % COLUMN);
    default:
        return INTS;
    }
}

/* Layouts of a side; block() says how long its blocks are. Returns a type to free, or
 * MPI_DATATYPE_NULL. */
static MPI_Datatype lay(const struct problem *p, struct side *side, int blocks, bool sending)
{
    struct layout whole = {.type = MPI_DATATYPE_NULL};
    struct layout l = layouts[named(p, sending)];
    if (p->mix == WHOLE_BY_RANK && p->n > 0 && (p->group->rank + sending) % 2 == 1)
        l = whole = layout_whole(p->n);
    for (int b = 0; b < blocks; b++) {
        side->layout[b] = l;
        if (p->coll == COLL_Alltoallw && p->mix == BY_RANK)
            side->layout[b] = layouts[p->in_place ? (b + p->group->rank) % COLUMN
                                                  : (b + 2 * p->group->rank + sending) % COLUMN];
    }
    return whole.type;
}

static enum placing placing(const struct problem *p)
{
    return !coll_shapes[p->coll].uneven ? REGULAR : p->coll == COLL_Alltoallw ? BYTES : ELEMENTS;
}

/* The send side: what this rank gives to whom, or nothing. */
static MPI_Datatype make_send(const struct problem *p, struct side *side, struct call *call)
{
    const struct coll_shape *shape = &coll_shapes[p->coll];
    const int me = p->group->rank, size = p->group->size, blocks = shape->sends_all ? size : 1;
    int ints[MAX_RANKS];
    for (int d = 0; d < blocks; d++)
        ints[d] = block(p, me, shape->sends_all ? d : p->root);
    const MPI_Datatype whole = lay(p, side, blocks, true);
    side_make(side, blocks, ints, blocks == 1 && !shape->sends_all ? REGULAR : placing(p));
    for (int d = 0; d < blocks; d++)
        put(p, side, side->buffer.before, d, me, shape->sends_all ? d : p->root);
    memcpy(side->buffer.after, side->buffer.before, side->buffer.size);
    call->sendbuf = side->buffer.start;
    call->sendcount = side->counts[0];
    call->sendtype = side->types[0];
    call->sendcounts = side->counts;
    call->senddispls = side->displs;
    call->sendtypes = side->types;
    return whole;
}

/* The receive side, with what is there before the call and after it. */
static MPI_Datatype make_recv(const struct problem *p, struct side *side, struct call *call)
{
    const struct coll_shape *shape = &coll_shapes[p->coll];
    const int me = p->group->rank, size = p->group->size, blocks = shape->receives_all ? size : 1;
    int ints[MAX_RANKS];
    for (int s = 0; s < blocks; s++)
        ints[s] = block(p, shape->receives_all ? s : p->root, me);
    const MPI_Datatype whole = lay(p, side, blocks, false);
    side_make(side, blocks, ints, blocks == 1 && !shape->receives_all ? REGULAR : placing(p));
    for (int s = 0; s < blocks; s++) {
        const int from = shape->receives_all ? s : p->root;
        put(p, side, side->buffer.after, s, from, me);
        if (p->in_place && all_to_all(p))
            put(p, side, side->buffer.before, s, me, from);
        else if ((p->in_place && from == me) || (p->coll == COLL_Bcast && me == p->root))
            put(p, side, side->buffer.before, s, from, me);
    }
    call->recvbuf = side->buffer.start;
    call->recvcount = side->counts[0];
    call->recvtype = side->types[0];
    call->recvcounts = side->counts;
    call->recvdispls = side->displs;
    call->recvtypes = side->types;
    return whole;
}

static void run(const struct problem *p, const struct plan *plan, long number)
{
    const struct coll_shape *shape = &coll_shapes[p->coll];
    const bool at_root = p->group->rank == p->root;
    const bool in_place = p->in_place && (!shape->rooted || at_root);
    struct side send = {0}, recv = {0};
    struct trial t = {
        .call = {.coll = p->coll,
                 .sendcount = -1,
                 .sendtype = MPI_DATATYPE_NULL,
                 .recvcount = -1,
                 .recvtype = MPI_DATATYPE_NULL,
                 .root = p->root,
                 .comm = p->group->comm,
                 .op = MPI_OP_NULL}}; /* arguments without meaning here stay invalid */
    MPI_Datatype whole[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};

    report_problem("%s on %s of %d, %d ints, %s, root %d%s", coll_names[p->coll], p->group->name,
                   p->group->size, p->n, mix_names[p->mix], p->root,
                   p->in_place ? ", in place" : "");
    if (p->coll != COLL_Bcast && (at_root || !shape->rooted || !shape->sends_all)) {
        whole[0] = make_send(p, &send, &t.call);
        t.send = &send.buffer;
    }
    if (at_root || !shape->rooted || !shape->receives_all) {
        whole[1] = make_recv(p, &recv, &t.call);
        t.recv = &recv.buffer;
    }
    if (in_place && shape->rooted && shape->sends_all)
        t.call.recvbuf = MPI_IN_PLACE,
        memcpy(recv.buffer.after, recv.buffer.before, recv.buffer.size);
    else if (in_place)
        t.call.sendbuf = MPI_IN_PLACE, t.call.sendcounts = t.call.senddispls = NULL,
        t.call.sendtypes = NULL;
    t.in_place = p->in_place;
    t.number = number;
    trial_run(&t, plan);
    buffer_free(&send.buffer);
    buffer_free(&recv.buffer);
    for (int i = 0; i < 2; i++)
        if (whole[i] != MPI_DATATYPE_NULL)
            MPI_Type_free(&whole[i]);
}

/* Elements that each span so many that follow would overlap, and what is received there is not
 * defined (MPI 4.0, section 5.1.11). */
static bool fits_columns(const struct problem *p)
{
    return p->n <= 10 && (p->n + 1) * p->group->size <= COLUMN_SPAN;
}

static bool sensible(const struct problem *p)
{
    const struct coll_shape *shape = &coll_shapes[p->coll];
    const bool large = p->n > 1000;
    return !(p->in_place && !shape->in_place) &&
           !(p->mix == WHOLE_BY_RANK && (shape->uneven || large)) &&
           !(p->mix == WHOLE_BY_RANK && p->in_place && all_to_all(p)) &&
           !(p->mix == TO_COLUMN && !fits_columns(p)) &&
           !(large && (p->mix > FROM_GAPS ||
                       (shape->rooted && p->root > 0 && p->root < p->group->size - 1)));
}

void movement_run(const struct group *group, const struct plan *plan)
{
    static const int sizes[] = {0, 2, 10, 75000};
    long number = 0;
    for (enum coll coll = 0; coll < COLLS; coll++)
        for (int s = 0; s < LEN(sizes); s++)
            for (enum mix mix = 0; mix < MIXES; mix++)
                for (int root = 0; root < (coll_shapes[coll].rooted ? group->size : 1); root++)
                    for (int in_place = 0; in_place <= 1; in_place++) {
                        const struct problem p = {group, coll, mix, sizes[s], root, in_place};
                        if (coll_shapes[coll].moves && sensible(&p) && (plan->colls & 1U << coll) &&
                            trial_due(number++, plan))
                            run(&p, plan, number - 1);
                    }
}
