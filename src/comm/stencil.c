/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil.c - see stencil.h. */
#include "comm/stencil.h"

#include <stdlib.h>
#include <string.h>

#include "comm/neighbors.h"

enum { DIMS = CCO_STENCIL_DIMS, MOST = CCO_STENCIL_OFFSETS, DIVISORS = 2048 };
enum { LEAST = 3 }; /* edges of a rank in a corner of two dimensions */

int cco_stencil_step(const cco_stencil *stencil, int offset, int dim)
{
    for (int d = stencil->ndims - 1; d > dim; d--)
        offset /= 3;
    return offset % 3 - 1;
}

int cco_stencil_along(const cco_stencil *stencil, int dim, int step)
{
    int worth = 1;
    for (int d = stencil->ndims - 1; d > dim; d--)
        worth *= 3;
    return (stencil->offsets - 1) / 2 + step * worth;
}

static bool is_inside(const cco_stencil *stencil, int dim, int step)
{
    const int to = stencil->at[dim] + step;
    return stencil->periodic[dim] || (to >= 0 && to < stencil->dims[dim]);
}

bool cco_stencil_has(const cco_stencil *stencil, const int steps[CCO_STENCIL_DIMS])
{
    for (int d = 0; d < stencil->ndims; d++)
        if (!is_inside(stencil, d, steps[d]))
            return false;
    return true;
}

/* The rank at `sign` times an offset; -1 if the grid ends before. */
static int stencil_rank_at(const cco_stencil *stencil, int offset, int sign)
{
    int rank = 0;
    for (int d = 0; d < stencil->ndims; d++) {
        const int step = sign * cco_stencil_step(stencil, offset, d), n = stencil->dims[d];
        if (!is_inside(stencil, d, step))
            return -1;
        rank = rank * n + (stencil->at[d] + step + n) % n;
    }
    return rank;
}

int cco_stencil_rank(const cco_stencil *stencil, int dim, int step)
{
    return stencil_rank_at(stencil, cco_stencil_along(stencil, dim, step), 1);
}

/* What is looked for, and what is tried. */
typedef struct search {
    int rank, size, degree;
    int in[MOST], out[MOST]; /* sorted */
    int divisors[DIVISORS], count;
    uint64_t from, number; /* of what is tried next */
    cco_stencil try;
} search;

static int stencil_by_rank(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void stencil_stand(cco_stencil *stencil, int rank)
{
    stencil->offsets = 1;
    for (int d = stencil->ndims - 1; d >= 0; d--) {
        stencil->offsets *= 3;
        stencil->at[d] = rank % stencil->dims[d];
        rank /= stencil->dims[d];
    }
}

static int degree_of(const cco_stencil *stencil)
{
    int degree = 1;
    for (int d = 0; d < stencil->ndims; d++)
        degree *= 1 + is_inside(stencil, d, -1) + is_inside(stencil, d, 1);
    return degree - !stencil->center;
}

static bool stencil_fits(search *s)
{
    cco_stencil *t = &s->try;
    const int zero = (t->offsets - 1) / 2;
    int peers[MOST], n = 0;
    if (degree_of(t) != s->degree)
        return false;
    for (int o = 0; o < t->offsets; o++) {
        const int peer = o != zero || t->center ? stencil_rank_at(t, o, 1) : -1;
        if (peer >= 0)
            peers[n++] = peer;
    }
    qsort(peers, (size_t)n, sizeof *peers, stencil_by_rank);
    return memcmp(peers, s->in, (size_t)n * sizeof *peers) == 0 &&
           memcmp(peers, s->out, (size_t)n * sizeof *peers) == 0;
}

/* With these dimensions.  One of a single rank that ends there has no neighbors: there are fewer
 * dimensions then. */
static bool try_kinds(search *s)
{
    cco_stencil *t = &s->try;
    stencil_stand(t, s->rank);
    for (int kind = 0; kind < 2 << t->ndims; kind++) {
        bool real = true;
        for (int d = 0; d < t->ndims; d++) {
            t->periodic[d] = kind >> (d + 1) & 1;
            real = real && (t->dims[d] > 1 || t->periodic[d]);
        }
        t->center = kind & 1;
        if (s->number++ >= s->from && real && stencil_fits(s))
            return true;
    }
    return false;
}

/* Each way to write the number of ranks as a product, whose last factors are still to be found. */
static bool try_all(search *s, int left)
{
    cco_stencil *t = &s->try;
    if (left == 1 && t->ndims > 1 && try_kinds(s))
        return true;
    for (int i = 0; i < s->count && s->divisors[i] <= left && t->ndims < DIMS; i++) {
        if (left % s->divisors[i] != 0)
            continue;
        t->dims[t->ndims++] = s->divisors[i];
        if (try_all(s, left / s->divisors[i]))
            return true;
        t->ndims--;
    }
    return false;
}

static void find_divisors(search *s)
{
    for (int i = 1; i <= s->size / i; i++) {
        if (s->size % i != 0)
            continue;
        s->divisors[s->count++] = i;
        if (s->size / i > i)
            s->divisors[s->count++] = s->size / i;
    }
    qsort(s->divisors, (size_t)s->count, sizeof *s->divisors, stencil_by_rank);
}

static bool stencil_look(search *s, const cco_neighbors *near, int rank, int size, uint64_t from)
{
    const size_t n = (size_t)near->degrees.in;
    *s = (search){.rank = rank, .size = size, .degree = near->degrees.in, .from = from};
    if (near->grid || size == 1 || near->degrees.in != near->degrees.out ||
        near->degrees.in < LEAST || near->degrees.in > MOST)
        return false;
    memcpy(s->in, near->in, n * sizeof *s->in);
    memcpy(s->out, near->out, n * sizeof *s->out);
    qsort(s->in, n, sizeof *s->in, stencil_by_rank);
    qsort(s->out, n, sizeof *s->out, stencil_by_rank);
    find_divisors(s);
    return try_all(s, size);
}

uint64_t cco_stencil_next(const cco_neighbors *near, int rank, int size, uint64_t from)
{
    search s;
    return stencil_look(&s, near, rank, size, from) ? s.number - 1 : CCO_NO_STENCIL;
}

/* The blocks of a list by their offsets. */
static void name_blocks(const cco_stencil *stencil, const int *peers, int degree, int sign,
                        int *blocks)
{
    bool taken[MOST] = {false};
    const int zero = (stencil->offsets - 1) / 2;
    for (int o = 0; o < stencil->offsets; o++) {
        const int peer = o != zero || stencil->center ? stencil_rank_at(stencil, o, sign) : -1;
        int i = 0;
        while (i < degree && (taken[i] || peers[i] != peer))
            i++;
        blocks[o] = peer >= 0 && i < degree ? i : -1;
        if (blocks[o] >= 0)
            taken[i] = true;
    }
}

void cco_stencil_describe(cco_stencil *stencil, const cco_neighbors *near, int rank, int size,
                          uint64_t number)
{
    search s;
    stencil_look(&s, near, rank, size, number);
    *stencil = s.try;
    name_blocks(stencil, near->in, near->degrees.in, -1, stencil->in);
    name_blocks(stencil, near->out, near->degrees.out, 1, stencil->out);
}
