/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction.c - the collectives that combine, against plain loops over the ranks. */
#include "kinds.h"
#include "report.h"
#include "trial.h"

#include <string.h>

#define LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct problem {
    const struct group *group;
    enum coll coll;
    const struct kind *kind;
    int n, root;
    bool in_place;
};

struct pieces { /* bytes of the receive buffer that may be anything */
    const struct problem *problem;
    size_t from, to; /* within the payload */
};

static bool scatters(const struct problem *p)
{
    return coll_shapes[p->coll].sends_all;
}

/* Elements of the result on a rank. */
static int result_count(const struct problem *p, int rank)
{
    return coll_shapes[p->coll].uneven ? p->n * ((rank + 1) % 3) : p->n;
}

static int result_offset(const struct problem *p, int rank)
{
    int offset = 0;
    for (int r = 0; scatters(p) && r < rank; r++)
        offset += result_count(p, r);
    return offset;
}

static int vector_count(const struct problem *p)
{
    return scatters(p) ? result_offset(p, p->group->size) : p->n;
}

/* Element k of the vector, combined over ranks first .. last - 1, lowest rank leftmost. */
static void combined(const struct problem *p, int last, int k, void *result)
{
    unsigned char left[64], right[64];
    p->kind->element(result, 0, k);
    for (int r = 1; r < last; r++) {
        memcpy(right, result, p->kind->extent); /* keeps gap bytes of the result */
        memcpy(left, result, p->kind->extent);
        p->kind->element(right, r, k);
        p->kind->combine(left, right);
        memcpy(result, right, p->kind->extent);
    }
}

static void forgive(struct trial *t)
{
    const struct pieces *f = t->detail;
    const struct kind *kind = f->problem->kind;
    if (!t->recv)
        return;
    unsigned char *now = t->recv->now + GUARD, *after = t->recv->after + GUARD;
    memcpy(after + f->from, now + f->from, f->to - f->from);
    for (size_t at = 0; kind->padded && at + kind->extent <= t->recv->size - 2 * GUARD;
         at += kind->extent)
        memcpy(after + at + kind->padding, now + at + kind->padding, kind->padded);
}

static void make_send(const struct problem *p, struct buffer *send)
{
    buffer_make(send, (size_t)vector_count(p) * p->kind->extent);
    for (int k = 0, n = vector_count(p); k < n; k++)
        p->kind->element(send->before + GUARD + (size_t)k * p->kind->extent, p->group->rank, k);
    memcpy(send->after, send->before, send->size);
}

static void make_recv(const struct problem *p, struct buffer *recv, struct pieces *undefined)
{
    const size_t extent = p->kind->extent;
    const int me = p->group->rank, mine = result_count(p, me), vector = vector_count(p);
    const int room = p->in_place && vector > mine ? vector : mine;
    const int first = result_offset(p, me);
    const int last = p->coll == COLL_Scan ? me + 1 : p->coll == COLL_Exscan ? me : p->group->size;
    buffer_make(recv, (size_t)room * extent);
    for (int k = 0; k < vector && p->in_place; k++)
        p->kind->element(recv->before + GUARD + (size_t)k * extent, me, k);
    memcpy(recv->after, recv->before, recv->size);
    for (int k = 0; k < mine && last > 0; k++)
        combined(p, last, first + k, recv->after + GUARD + (size_t)k * extent);
    *undefined = (struct pieces){p, last > 0 ? (size_t)mine * extent : 0, (size_t)room * extent};
}

static void run(const struct problem *p, const struct plan *plan, long number)
{
    const bool at_root = !coll_shapes[p->coll].rooted || p->group->rank == p->root;
    int counts[MAX_RANKS];
    struct buffer send = {0}, recv = {0};
    struct pieces undefined = {.problem = p};
    struct problem mine = *p;
    mine.in_place = p->in_place && at_root; /* a rooted call is in place at its root */

    report_problem("%s on %s of %d, %s, %d elements, root %d%s", coll_names[p->coll],
                   p->group->name, p->group->size, p->kind->name, p->n, p->root,
                   p->in_place ? ", in place" : "");
    for (int r = 0; r < p->group->size; r++)
        counts[r] = result_count(p, r);
    make_send(p, &send);
    if (at_root)
        make_recv(&mine, &recv, &undefined);
    struct trial t = {
        .call = {.coll = p->coll,
                 .sendbuf = mine.in_place ? MPI_IN_PLACE : send.start,
                 .recvbuf = recv.start,
                 .sendtype = MPI_DATATYPE_NULL,
                 .recvcount = p->n,
                 .recvcounts = counts,
                 .recvtype = p->kind->type,
                 .op = p->kind->op,
                 .root = p->root,
                 .comm = p->group->comm,
                 .user = p->kind->user,
                 .commutes = p->kind->commutes},
        .send = &send,
        .recv = at_root ? &recv : NULL,
        .forgive = forgive,
        .detail = &undefined,
        .in_place = p->in_place,
        .number = number,
    };
    trial_run(&t, plan);
    buffer_free(&send);
    buffer_free(&recv);
}

static bool sensible(const struct problem *p)
{
    const bool edge = p->root == 0 || p->root == p->group->size - 1;
    return coll_shapes[p->coll].reduces && (p->n <= 1000 || (p->kind->big && edge));
}

void reduction_run(const struct group *group, const struct plan *plan)
{
    static const int sizes[] = {0, 1, 7, 38000};
    long number = 0;
    for (enum coll coll = 0; coll < COLLS; coll++)
        for (int s = 0; s < LEN(sizes); s++)
            for (int k = 0; k < KINDS; k++)
                for (int root = 0; root < (coll_shapes[coll].rooted ? group->size : 1); root++)
                    for (int in_place = 0; in_place <= 1; in_place++) {
                        const struct problem p = {group, coll, &kinds[k], sizes[s], root, in_place};
                        if (sensible(&p) && (plan->colls & 1U << coll) && trial_due(number++, plan))
                            run(&p, plan, number - 1);
                    }
}
