/* SPDX-License-Identifier: BSD-3-Clause */
/* memo.h - calls seen before, and what they came to: the short path for repeated calls.
 *
 * A memo holds for the same arguments but buffers, where these mean the same for ever: predefined
 * types and operations, no arrays.  Ranks need not agree on what they remember. */
#ifndef CCO_MEMO_H
#define CCO_MEMO_H

#include "model/frame.h"
#include "model/plan.h"

enum { CCO_MEMOS = 16 };

typedef struct cco_memo {
    cco_call call; /* NULL for buffers; its communicator is the state's */
    bool send_in_place, recv_in_place;
    cco_way way;
    cco_plan *plan; /* NULL: nothing here */
    unsigned drops; /* plan.h */
    cco_binding binding;
} cco_memo;

/* The place for a call in an array of CCO_MEMOS. */
static inline cco_memo *cco_memo_place(cco_memo *memos, const cco_call *c)
{
    const MPI_Count n = 5 * c->recvcount + 3 * c->sendcount + c->root;
    return &memos[(unsigned)(n + (MPI_Count)c->coll) % CCO_MEMOS];
}

/* True if a memo holds for a call. */
static inline bool cco_memo_holds(const cco_memo *m, const cco_plans *plans, const cco_way *way,
                                  const cco_call *c)
{
    const cco_call *old = &m->call;
    return m->plan != NULL && m->drops == plans->drops && old->coll == c->coll &&
           old->root == c->root && old->sendcount == c->sendcount &&
           old->recvcount == c->recvcount && old->sendtype == c->sendtype &&
           old->recvtype == c->recvtype && old->op == c->op && m->way.algo == way->algo &&
           m->send_in_place == (c->sendbuf == MPI_IN_PLACE) &&
           m->recv_in_place == (c->recvbuf == MPI_IN_PLACE) && m->way.params[0] == way->params[0] &&
           m->way.params[1] == way->params[1] && m->way.params[2] == way->params[2];
}

/* Remembers what a call came to, if that will hold. */
void cco_memo_write(cco_memo *m, const cco_plans *plans, const cco_way *way, const cco_frame *frame,
                    cco_plan *plan);

#endif
