/* SPDX-License-Identifier: BSD-3-Clause */
/* cube.h - the largest power of two of ranks as places of a hypercube.
 *
 * Ranks count from `origin`.  With p no power of two, each of the first places stands for two ranks
 * in sequence: the first rests while the second works.  So a run of places is a run of ranks. */
#ifndef CCO_CUBE_H
#define CCO_CUBE_H

#include "sched/problem.h"

typedef struct cco_cube {
    int p, origin;
    int places;  /* a power of two */
    int place;   /* of this rank; a resting one has that of its partner */
    int partner; /* the other rank of this place, or -1 */
    bool rests;
} cco_cube;

cco_cube cco_cube_of(const cco_problem *q, int origin);

/* The first rank, counted from the origin, that a place stands for; p for the place behind all. */
int cco_cube_first(const cco_cube *cube, int place);

/* The rank that works at a place. */
int cco_cube_rank(const cco_cube *cube, int place);

/* Before: a resting rank gives `mine` to its partner, which combines it with its own.  `got` is as
 * large.  After: the partner gives back `mine`. */
void cco_cube_fold(cco_sched *s, const cco_cube *cube, cco_span mine, cco_span got);
void cco_cube_unfold(cco_sched *s, const cco_cube *cube, cco_span mine);

/* The range of `span` that a place keeps when it has halved its range with each neighbor across
 * the bits below `bit`, the lowest first. */
cco_span cco_cube_range(cco_sched *s, const cco_problem *q, const cco_cube *cube, cco_span span,
                        int place, int bit);

/* Reduce-scatter by recursive halving over the places, nearest first, so that places combine in
 * order: each ends with its range for the bit `places`.  `got` is as large as `mine`. */
void cco_cube_halve(cco_sched *s, const cco_problem *q, const cco_cube *cube, cco_span mine,
                    cco_span got);

#endif
