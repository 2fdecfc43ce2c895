/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c - see allgather.h. */
#include "algo/pattern/allgather.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/cube.h"
#include "algo/pattern/pack.h"

/* Copies blocks that lie one after the other, those of `count` ranks from `first` on, to their
 * places.  `first` + `count` is at most p. */
static void pattern_allgather_put(cco_sched *s, const cco_problem *q, int first, int count,
                                  cco_span blocks)
{
    if (q->out.at != NULL)
        cco_unpack(s, q, &q->out, first, count, blocks);
    else
        cco_copy(s, blocks, cco_run(q, &q->out, first, first + count));
}

/* Those of this rank and of its successors, in a span that begins with this rank's. */
static cco_span from_me(cco_sched *s, const cco_problem *q, cco_span all, int first, int count)
{
    const int begin = q->rank + first; /* of these runs only the sizes count: they may go round */
    return cco_part(s, all, cco_run(q, &q->out, q->rank, begin).n,
                    cco_run(q, &q->out, begin, begin + count).n);
}

void cco_bruck_allgather(cco_sched *s, const cco_problem *q, long radix)
{
    const int p = q->size, me = q->rank, k = (int)radix;
    const cco_span all = cco_scratch(s, cco_run(q, &q->out, 0, p).n);
    cco_copy(s, cco_whole(&q->in), from_me(s, q, all, 0, 1));
    for (int have = 1; have < p;) {
        int next = have;
        cco_round(s);
        for (int i = 1; i < k && next < p; i++) {
            const int count = have < p - next ? have : p - next;
            cco_send(s, (me - next + p) % p, from_me(s, q, all, 0, count));
            cco_recv(s, (me + next) % p, from_me(s, q, all, next, count));
            next += count;
        }
        have = next;
    }
    cco_round(s);
    pattern_allgather_put(s, q, me, p - me, from_me(s, q, all, 0, p - me));
    pattern_allgather_put(s, q, 0, me, from_me(s, q, all, p - me, me));
}

/* Where all blocks can lie one after the other: in the receive buffer, or in scratch. */
static cco_span place_of_all(cco_sched *s, const cco_problem *q)
{
    const cco_span all = cco_run(q, &q->out, 0, q->size);
    return q->out.at != NULL ? cco_scratch(s, all.n) : all;
}

/* The blocks of the ranks that a run of places stands for. */
static cco_span pattern_allgather_of_places(cco_sched *s, const cco_problem *q,
                                            const cco_cube *cube, cco_span all, int first,
                                            int count)
{
    return cco_run_within(s, q, &q->out, all, cco_cube_first(cube, first),
                          cco_cube_first(cube, first + count));
}

void cco_doubling_allgather(cco_sched *s, const cco_problem *q)
{
    const cco_cube cube = cco_cube_of(q, 0);
    const int p = q->size, me = q->rank, partner = cube.partner;
    const cco_span mine = cco_whole(&q->in), all = place_of_all(s, q);
    if (cube.rests)
        cco_send(s, partner, mine);
    else if (partner >= 0)
        cco_recv(s, partner, cco_run_within(s, q, &q->out, all, partner, partner + 1));
    cco_copy(s, mine, cco_run_within(s, q, &q->out, all, me, me + 1));
    for (int bit = 1; bit < cube.places && !cube.rests; bit *= 2) {
        const int other = cube.place ^ bit, peer = cco_cube_rank(&cube, other);
        cco_round(s);
        cco_send(s, peer, pattern_allgather_of_places(s, q, &cube, all, cube.place & -bit, bit));
        cco_recv(s, peer, pattern_allgather_of_places(s, q, &cube, all, other & -bit, bit));
    }
    cco_round(s);
    if (cube.rests) { /* all but its own */
        cco_recv(s, partner, cco_run_within(s, q, &q->out, all, 0, me));
        cco_recv(s, partner, cco_run_within(s, q, &q->out, all, me + 1, p));
    } else if (partner >= 0) {
        cco_send(s, partner, cco_run_within(s, q, &q->out, all, 0, partner));
        cco_send(s, partner, cco_run_within(s, q, &q->out, all, partner + 1, p));
    }
    cco_round(s);
    pattern_allgather_put(s, q, 0, p, all);
}

/* The two blocks that this rank gets in a step: from either side in turn, every second time from
 * farther. */
static cco_span pattern_allgather_of_pair(cco_sched *s, const cco_problem *q, cco_span all,
                                          int step)
{
    const int pairs = q->size / 2, far = step % 2 == 0 ? step / 2 : -(step + 1) / 2;
    const int pair = q->rank / 2 + (q->rank % 2 == 0 ? far : -far) + pairs;
    const int first = 2 * (pair % pairs);
    return cco_run_within(s, q, &q->out, all, first, first + 2);
}

void cco_neighbor_allgather(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, twin = me ^ 1;
    const cco_span all = place_of_all(s, q), mine = cco_run_within(s, q, &q->out, all, me, me + 1);
    cco_copy(s, cco_whole(&q->in), mine);
    cco_round(s);
    cco_send(s, twin, mine);
    cco_recv(s, twin, cco_run_within(s, q, &q->out, all, twin, twin + 1));
    for (int step = 1; step < p / 2; step++) {
        const bool to_next = step % 2 == me % 2;
        const int peer = to_next ? (me + 1) % p : (me + p - 1) % p;
        cco_round(s);
        cco_send(s, peer, pattern_allgather_of_pair(s, q, all, step - 1));
        cco_recv(s, peer, pattern_allgather_of_pair(s, q, all, step));
    }
    cco_round(s);
    pattern_allgather_put(s, q, 0, p, all);
}
