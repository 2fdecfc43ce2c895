/* SPDX-License-Identifier: BSD-3-Clause */
/* begun.c - see begun.h.  The block from rank s for rank d has n + (s + d) % 3 ints where a
 * collective has arrays of counts, and a hole of two ints behind it. */
#include "begun.h"

#include "testing/testing.h"

enum { HOLE = 2, NOTHING = -77 };

static int value(const struct begun *f, int rank, int i)
{
    return (int)((f->number * 7 + rank * 131 + i * 3) % 1000);
}

/* Ints from s for d, where blocks are uneven. */
static int uneven(const struct begun *f, int s, int d)
{
    const struct coll_shape *shape = &coll_shapes[f->call.coll];
    if (shape->sends_all && shape->receives_all)
        return f->n + (s + d) % 3;
    return f->n + (shape->sends_all ? d : s) % 3;
}

/* Counts and displacements of the blocks of this rank's buffer, in ints; returns where they end. */
static int lay_out(const struct begun *f, int *counts, int *displs, bool sending, int scale)
{
    int at = 0;
    for (int i = 0; i < f->size; i++) {
        counts[i] = sending ? uneven(f, f->rank, i) : uneven(f, i, f->rank);
        displs[i] = at * scale;
        at += counts[i] + (f->call.coll == COLL_Reduce_scatter ? 0 : HOLE);
    }
    return at;
}

static void set_right(struct begun *f, int at, int rank, int from, int count)
{
    for (int i = 0; i < count; i++)
        f->right[at + i] = value(f, rank, from + i);
}

/* Sums over ranks below `end` of elements that begin at `from`. */
static void set_sums(struct begun *f, int end, int from, int count)
{
    for (int i = 0; i < count; i++) {
        f->right[i] = 0;
        for (int rank = 0; rank < end; rank++)
            f->right[i] += value(f, rank, from + i);
    }
}

/* Where the block for d begins in the send buffer of s, where blocks are uneven. */
static int place(const struct begun *f, int s, int d)
{
    int at = 0;
    for (int i = 0; i < d; i++)
        at += uneven(f, s, i) + (f->call.coll == COLL_Reduce_scatter ? 0 : HOLE);
    return at;
}

static void set_uneven(struct begun *f, const int *counts, const int *displs, int scale)
{
    const bool all = coll_shapes[f->call.coll].sends_all;
    for (int i = 0; i < f->size; i++)
        set_right(f, displs[i] / scale, i, all ? place(f, i, f->rank) : 0, counts[i]);
}

static void make_uneven(struct begun *f)
{
    struct call *c = &f->call;
    const bool bytes = c->coll == COLL_Alltoallw;
    const int scale = bytes ? (int)sizeof(int) : 1, p = f->size;
    int *sc = f->arrays, *sd = sc + p, *rc = sd + p, *rd = rc + p;
    lay_out(f, sc, sd, true, scale);
    lay_out(f, rc, rd, false, scale);
    c->sendcounts = sc;
    c->senddispls = sd;
    c->recvcounts = rc;
    c->recvdispls = rd;
    c->sendtypes = c->recvtypes = f->types;
    if (c->coll == COLL_Reduce_scatter) {
        c->recvcounts = sc;
        set_sums(f, p, place(f, f->rank, f->rank), sc[f->rank]);
    } else if (c->coll == COLL_Scatterv) {
        c->recvcount = uneven(f, c->root, f->rank);
        set_right(f, 0, c->root, place(f, c->root, f->rank), c->recvcount);
    } else if (c->coll != COLL_Gatherv || f->rank == c->root) {
        set_uneven(f, rc, rd, scale);
    }
    if (!coll_shapes[c->coll].sends_all)
        c->sendcount = uneven(f, f->rank, f->rank);
}

static void make_even(struct begun *f)
{
    const struct call *c = &f->call;
    const int n = f->n, p = f->size, me = f->rank;
    switch (c->coll) {
    case COLL_Bcast:
        memcpy(f->recv, f->send, sizeof(int) * (size_t)n * (me == c->root));
        set_right(f, 0, c->root, 0, n);
        break;
    case COLL_Scatter:
        set_right(f, 0, c->root, me * n, n);
        break;
    case COLL_Gather:
    case COLL_Allgather:
        for (int i = 0; i < p && (c->coll == COLL_Allgather || me == c->root); i++)
            set_right(f, i * n, i, 0, n);
        break;
    case COLL_Alltoall:
        for (int i = 0; i < p; i++)
            set_right(f, i * n, i, me * n, n);
        break;
    case COLL_Reduce:
        set_sums(f, p, 0, me == c->root ? n : 0);
        break;
    case COLL_Allreduce:
        set_sums(f, p, 0, n);
        break;
    case COLL_Reduce_scatter_block:
        set_sums(f, p, me * n, n);
        break;
    case COLL_Scan:
        set_sums(f, me + 1, 0, n);
        break;
    case COLL_Exscan:
        set_sums(f, me, 0, me > 0 ? n : 0);
        break;
    default:
        break;
    }
}

static int *ints(int count)
{
    int *list = malloc(sizeof *list * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        list[i] = NOTHING;
    return list;
}

static void make_buffers(struct begun *f)
{
    f->room = f->size * (f->n + 2 + HOLE);
    f->send = ints(f->room);
    f->recv = ints(f->room);
    f->right = ints(f->room);
    f->arrays = ints(4 * f->size);
    f->types = malloc(sizeof *f->types * (size_t)f->size);
    for (int i = 0; i < f->size; i++)
        f->types[i] = MPI_INT;
    for (int i = 0; i < f->room; i++)
        f->send[i] = value(f, f->rank, i);
}

void begun_start(struct begun *f, enum coll coll, MPI_Comm comm, int n, int root, long number,
                 bool spoil)
{
    *f = (struct begun){.number = number, .n = n};
    MPI_Comm_rank(comm, &f->rank);
    MPI_Comm_size(comm, &f->size);
    make_buffers(f);
    f->call = (struct call){.coll = coll,
                            .sendbuf = f->send,
                            .recvbuf = f->recv,
                            .sendcount = n,
                            .recvcount = n,
                            .sendtype = MPI_INT,
                            .recvtype = MPI_INT,
                            .op = MPI_SUM,
                            .root = root % f->size,
                            .comm = comm};
    if (coll_shapes[coll].uneven)
        make_uneven(f);
    else
        make_even(f);
    CHECK(call_make(SPLIT, &f->call, &f->request) == MPI_SUCCESS, "%s begins", coll_names[coll]);
    memset(f->arrays, 0x5a, sizeof(int) * 4 * (size_t)f->size);
    memset(f->types, 0, sizeof *f->types * (size_t)f->size);
    free(f->arrays);
    free(f->types);
    for (int i = 0; spoil && i < f->room; i++)
        f->send[i] = 0x77777777;
}

void begun_check(struct begun *f)
{
    int at = 0;
    CHECK(f->request == MPI_REQUEST_NULL, "%s: request left", coll_names[f->call.coll]);
    while (at < f->room && f->recv[at] == f->right[at])
        at++;
    CHECK(at == f->room, "%s number %ld, %d ints a block, rank %d of %d: %d at %d, not %d",
          coll_names[f->call.coll], f->number, f->n, f->rank, f->size, f->recv[at], at,
          f->right[at]);
    free(f->send);
    free(f->recv);
    free(f->right);
}
