/* SPDX-License-Identifier: BSD-3-Clause */
/* schedules.c - what CrN and CsN were meant to do, by calls that begin and do not wait: all blocks
 * in random order, got from windows or sent and received, with the computation in between.
 *
 * In CsN each block is begun before its piece of the computation, not after it, so that the last
 * one has something to travel behind, and the MPI is let on within a piece, too. */
#include "psdns.h"

#include <string.h>

#include "cresta_sp_coll.h"

enum { LOOKS = 4 }; /* in a piece */

/* Begins what belongs to one block, and says how many requests there are now. */
typedef int begin(struct psdns *h, struct psdns_side *s, int peer, int n);

static unsigned char *block(const struct psdns *h, unsigned char *of, int i)
{
    return of + (size_t)i * h->bytes;
}

static void own_block(struct psdns *h, struct psdns_side *s)
{
    memcpy(block(h, s->recv, s->rank), block(h, s->send, s->rank), h->bytes);
}

static int get(struct psdns *h, struct psdns_side *s, int peer, int n)
{
    if (peer == s->rank) {
        own_block(h, s);
        return n;
    }
    MPI_Rget(block(h, s->recv, peer), (int)h->bytes, MPI_BYTE, peer,
             (MPI_Aint)((size_t)s->rank * h->bytes), (int)h->bytes, MPI_BYTE, s->window.win,
             &s->begun[n]);
    return n + 1;
}

static int send(struct psdns *h, struct psdns_side *s, int peer, int n)
{
    if (peer == s->rank) {
        own_block(h, s);
        return n;
    }
    MPI_Isend(block(h, s->send, peer), (int)h->bytes, MPI_BYTE, peer, 0, s->comm, &s->begun[n]);
    return n + 1;
}

/* Before anything is sent: what arrives finds its place. */
static int receive_all(struct psdns *h, struct psdns_side *s)
{
    int n = 0;
    for (int i = 0; i < s->size; i++)
        if (s->order[i] != s->rank)
            MPI_Irecv(block(h, s->recv, s->order[i]), (int)h->bytes, MPI_BYTE, s->order[i], 0,
                      s->comm, &s->begun[n++]);
    return n;
}

/* The piece of one block; all of them are the whole. */
static void piece(struct psdns *h, int side, int n)
{
    struct psdns_side *s = &h->side[side];
    int all;
    for (int i = 0; i < LOOKS; i++) {
        psdns_work(h, side, 1.0 / (s->size * LOOKS));
        CRESTA_Coll_test(n, s->begun, &all);
    }
}

static int blocks(struct psdns *h, const struct psdns_alg *a, int side, begin *begin_one, int n)
{
    struct psdns_side *s = &h->side[side];
    for (int i = 0; i < s->size; i++) {
        n = begin_one(h, s, s->order[i], n);
        if (a->inlined && a->overlaps)
            piece(h, side, n);
    }
    if (!a->inlined && a->overlaps)
        psdns_work(h, side, 1);
    return CRESTA_Coll_end(n, s->begun);
}

static void work_after(struct psdns *h, const struct psdns_alg *a, int side)
{
    const int pieces = a->inlined ? h->side[side].size : 1;
    for (int i = 0; i < pieces && !a->overlaps; i++)
        psdns_work(h, side, 1.0 / pieces);
}

int psdns_by_messages(struct psdns *h, const struct psdns_alg *a, int side)
{
    const int rc = blocks(h, a, side, send, receive_all(h, &h->side[side]));
    work_after(h, a, side);
    return rc;
}

/* The barriers are the document's sync all: nobody reads before all have written, nobody writes
 * before all have read. A rank that waits in one serves the ranks that still read from it. */
int psdns_by_window(struct psdns *h, const struct psdns_alg *a, int side)
{
    struct psdns_side *s = &h->side[side];
    const int alone = s->size == 1; /* there is no window then */
    if (!alone)
        MPI_Win_sync(s->window.win);
    CRESTA_Barrier(s->comm);
    const int rc = blocks(h, a, side, get, 0);
    if (!alone)
        MPI_Win_sync(s->window.win);
    CRESTA_Barrier(s->comm);
    work_after(h, a, side);
    return rc;
}
