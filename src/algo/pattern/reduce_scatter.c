/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_scatter.c - see reduce_scatter.h. */
#include "algo/pattern/reduce_scatter.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/cube.h"

/* Where the sum may grow: the receive buffer, unless data to be sent lie in it. */
static cco_span place_of_sum(cco_sched *s, const cco_problem *q)
{
    const cco_span out = cco_whole(&q->out);
    return q->in.base == CCO_OUT ? cco_scratch(s, out.n) : out;
}

/* Peers come in falling order from me-1 to 0, then from p-1 to me+1.  Each is the left operand of
 * what came before, so the second part needs a sum of its own unless the operation commutes. */
void cco_pairwise_reduce_scatter(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank;
    const cco_span out = cco_whole(&q->out), low = place_of_sum(s, q);
    const bool two = !q->commutative && me < p - 1;
    const cco_span high = two ? cco_scratch(s, out.n) : low;
    const cco_span got[] = {cco_scratch(s, out.n), cco_scratch(s, out.n)};

    cco_copy(s, cco_block(q, &q->in, me), low);
    for (int k = 1; k <= p; k++) { /* message k arrives while k-1 is reduced */
        const int to = (me + k) % p, from = (me - k + p) % p, before = k - 1;
        const bool first = two && before == me + 1;
        cco_round(s);
        if (k < p) {
            cco_send(s, to, cco_block(q, &q->in, to));
            cco_recv(s, from, got[k % 2]);
        }
        if (first)
            cco_copy(s, got[before % 2], high);
        else if (before > 0)
            cco_reduce(s, got[before % 2], before > me ? high : low);
    }
    cco_round(s);
    if (two)
        cco_reduce(s, low, high);
    cco_round(s);
    cco_copy(s, high, out);
}

void cco_ring_reduce_scatter(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, next = (me + 1) % p, prev = (me + p - 1) % p;
    size_t largest = 0;
    for (int k = 0; k < p - 1; k++) { /* of those that come */
        const size_t n = cco_block(q, &q->in, me - k - 2).n;
        largest = n > largest ? n : largest;
    }
    const cco_span tmp[] = {cco_scratch(s, largest), cco_scratch(s, largest)};

    cco_span sum = cco_block(q, &q->in, me - 1);
    for (int k = 0; k < p - 1; k++) {
        const cco_span own = cco_block(q, &q->in, me - k - 2);
        const cco_span got = cco_part(s, tmp[k % 2], 0, own.n);
        cco_round(s);
        cco_send(s, next, sum);
        cco_recv(s, prev, got);
        cco_round(s);
        cco_reduce(s, own, got);
        sum = got;
    }
    cco_round(s);
    cco_copy(s, sum, cco_whole(&q->out));
}

/* The blocks of a run of places, in a span that holds all blocks. */
static cco_span pattern_reduce_scatter_of_places(cco_sched *s, const cco_problem *q,
                                                 const cco_cube *cube, cco_span all, int first,
                                                 int end)
{
    return cco_run_within(s, q, &q->in, all, cco_cube_first(cube, first),
                          cco_cube_first(cube, end));
}

void cco_halving_reduce_scatter(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, 0);
    const int p = q->size, me = q->rank, place = cube.place;
    const cco_span in = cco_run(q, &q->in, 0, p), out = cco_whole(&q->out);
    if (cube.rests) {
        cco_send(s, cube.partner, in);
        cco_round(s);
        cco_recv(s, cube.partner, out);
        return;
    }
    const cco_span sum = cco_scratch(s, in.n), got = cco_scratch(s, p > 1 ? in.n : 0);
    if (cube.partner >= 0) {
        cco_recv(s, cube.partner, sum);
        cco_round(s);
        cco_reduce(s, in, sum);
    } else {
        cco_copy(s, in, sum);
    }
    for (int half = cube.places / 2; half > 0; half /= 2) {
        const int other = place ^ half, peer = cco_cube_rank(&cube, other);
        const int first = place & -half, their_first = other & -half;
        const cco_span keep = pattern_reduce_scatter_of_places(s, q, &cube, sum, first,
                                                               first + half);
        const cco_span theirs = cco_part(s, got, 0, keep.n);
        cco_round(s);
        cco_send(
            s, peer,
            pattern_reduce_scatter_of_places(s, q, &cube, sum, their_first, their_first + half));
        cco_recv(s, peer, theirs);
        cco_round(s);
        cco_reduce(s, theirs, keep);
    }
    cco_round(s);
    if (cube.partner >= 0)
        cco_send(s, me - 1, cco_run_within(s, q, &q->in, sum, me - 1, me));
    cco_copy(s, cco_run_within(s, q, &q->in, sum, me, me + 1), out);
}
