/* SPDX-License-Identifier: BSD-3-Clause */
/* cube.c - see cube.h. */
#include "algo/pattern/cube.h"

#include "algo/pattern/blocks.h"
#include "algo/pattern/combine.h"

cco_cube cco_cube_of(const cco_problem *q, int origin)
{
    const int p = q->size, me = (q->rank - origin + p) % p;
    cco_cube cube = {.p = p, .origin = origin, .places = 1, .partner = -1};
    while (cube.places <= p / 2)
        cube.places *= 2;
    const int extra = p - cube.places;
    cube.place = me < 2 * extra ? me / 2 : me - extra;
    if (me < 2 * extra) {
        cube.rests = me % 2 == 0;
        cube.partner = ((me ^ 1) + origin) % p;
    }
    return cube;
}

int cco_cube_first(const cco_cube *cube, int place)
{
    const int extra = cube->p - cube->places;
    return place < extra ? 2 * place : place + extra;
}

int cco_cube_rank(const cco_cube *cube, int place)
{
    return (cco_cube_first(cube, place + 1) - 1 + cube->origin) % cube->p;
}

void cco_cube_fold(cco_sched *s, const cco_cube *cube, cco_span mine, cco_span got)
{
    if (cube->rests) {
        cco_round(s);
        cco_send(s, cube->partner, mine);
    } else if (cube->partner >= 0) {
        cco_recv(s, cube->partner, got);
        cco_combine(s, got, mine, true);
    }
}

void cco_cube_unfold(cco_sched *s, const cco_cube *cube, cco_span mine)
{
    cco_round(s);
    if (cube->rests)
        cco_recv(s, cube->partner, mine);
    else if (cube->partner >= 0)
        cco_send(s, cube->partner, mine);
}

cco_span cco_cube_range(cco_sched *s, const cco_problem *q, const cco_cube *cube, cco_span span,
                        int place, int bit)
{
    int first = 0, count = cube->places;
    for (int b = 1; b < bit; b *= 2) {
        count /= 2;
        first += place & b ? count : 0;
    }
    return cco_cuts(s, q, span, first, first + count, cube->places);
}

void cco_cube_halve(cco_sched *s, const cco_problem *q, const cco_cube *cube, cco_span mine,
                    cco_span got)
{
    for (int bit = 2; bit <= cube->places; bit *= 2) {
        const int other = cube->place ^ bit / 2, peer = cco_cube_rank(cube, other);
        const cco_span keep = cco_cube_range(s, q, cube, mine, cube->place, bit);
        const cco_span theirs = cco_part(s, got, 0, keep.n);
        cco_round(s);
        cco_send(s, peer, cco_cube_range(s, q, cube, mine, other, bit));
        cco_recv(s, peer, theirs);
        cco_combine(s, theirs, keep, q->commutative || cube->place & bit / 2);
    }
}
