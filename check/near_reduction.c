/* SPDX-License-Identifier: BSD-3-Clause */
/* near_reduction.c - neighbourhood reductions, which no MPI has, against plain loops over the list
 * of sources. */
#include "kinds.h"
#include "report.h"
#include "trial.h"

#include <string.h>

struct problem {
    const struct near_reduction *of;
    const struct kind *kind;
    bool in_place;
};

/* What kinds.h calls a rank: the sender of a block, and the block if each is another. */
static int giver(const struct near_reduction *r, int rank, int slot)
{
    return coll_shapes[r->coll].sends_all ? rank + r->graph->size * slot : rank;
}

/* Blocks that a rank gives; a vector for all, or one for each. */
static int blocks(const struct near_reduction *r)
{
    return coll_shapes[r->coll].sends_all ? r->graph->out[r->rank].count : 1;
}

static void put_vector(const struct problem *p, unsigned char *at, int giver)
{
    for (int k = 0; k < p->of->n; k++)
        p->kind->element(at + (size_t)k * p->kind->extent, giver, k);
}

static void make_send(const struct problem *p, struct buffer *send)
{
    const size_t vector = (size_t)p->of->n * p->kind->extent;
    buffer_make(send, vector * (size_t)blocks(p->of));
    for (int b = 0; b < blocks(p->of); b++)
        put_vector(p, send->before + GUARD + vector * (size_t)b, giver(p->of, p->of->rank, b));
    memcpy(send->after, send->before, send->size);
}

/* Element k of what arrives, in the order of the sources; false if there is none. */
static bool combined(const struct problem *p, int k, unsigned char *result)
{
    const struct graph_ends *in = &p->of->graph->in[p->of->rank];
    const size_t extent = p->kind->extent;
    bool any = false;
    for (int i = 0; i < in->count; i++) {
        unsigned char right[64];
        if (in->peer[i] == GRAPH_NOBODY)
            continue;
        memcpy(right, result, extent); /* keeps gap bytes of the result */
        p->kind->element(right, giver(p->of, in->peer[i], in->slot[i]), k);
        if (any)
            p->kind->combine(result, right);
        memcpy(result, right, extent);
        any = true;
    }
    return any;
}

static void make_recv(const struct problem *p, struct buffer *recv)
{
    const size_t extent = p->kind->extent;
    buffer_make(recv, (size_t)p->of->n * extent);
    if (p->in_place)
        put_vector(p, recv->before + GUARD, giver(p->of, p->of->rank, 0));
    memcpy(recv->after, recv->before, recv->size);
    for (int k = 0; k < p->of->n; k++)
        combined(p, k, recv->after + GUARD + (size_t)k * extent);
}

/* Bytes of an element without meaning. */
static void forgive(struct trial *t)
{
    const struct kind *kind = t->detail;
    unsigned char *now = t->recv->now + GUARD, *after = t->recv->after + GUARD;
    for (size_t at = 0; kind->padded && at + kind->extent <= t->recv->size - 2 * GUARD;
         at += kind->extent)
        memcpy(after + at + kind->padding, now + at + kind->padding, kind->padded);
}

void near_reduction_run(const struct near_reduction *r, const struct plan *plan)
{
    const struct problem p = {r, &kinds[(r->number + r->coll) % KINDS],
                              !coll_shapes[r->coll].sends_all && r->number / KINDS % 2};
    struct buffer send = {0}, recv = {0};
    report_problem("%s, %d elements, %s%s", r->name, r->n, p.kind->name,
                   p.in_place ? ", in place" : "");
    make_send(&p, &send);
    make_recv(&p, &recv);
    struct trial t = {.call = {.coll = r->coll,
                               .sendbuf = p.in_place ? MPI_IN_PLACE : send.start,
                               .recvbuf = recv.start,
                               .sendtype = MPI_DATATYPE_NULL,
                               .recvcount = r->n,
                               .recvtype = p.kind->type,
                               .op = p.kind->op,
                               .comm = r->comm,
                               .user = p.kind->user,
                               .commutes = p.kind->commutes,
                               .graph = r->graph,
                               .rank = r->rank},
                      .send = &send,
                      .recv = &recv,
                      .forgive = forgive,
                      .detail = p.kind,
                      .in_place = p.in_place,
                      .number = r->number};
    trial_run(&t, plan);
    buffer_free(&send);
    buffer_free(&recv);
}
