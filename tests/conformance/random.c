/* SPDX-License-Identifier: BSD-3-Clause */
/* random.c - problems that nobody thought of: algorithm, ranks, root, sizes, uneven vectors, in
 * place, order, gaps and parameters at random, with a liking for small values and for limits. */
#include "random.h"

#include <stdint.h>
#include <stdio.h>

enum {
    ALGORITHMS = 256, /* more than there are */
    RANKS = 40,
    WORK = 4000,         /* elements of all blocks of all ranks, about: most cases */
    MUCH_WORK = 100000,  /* some */
    ALWAYS_POSSIBLE = 48 /* elements of a block, however many ranks */
};

typedef struct choice {
    cco_coll coll;
    const cco_algo *algo;
} choice;

static uint64_t state;

/* S. Vigna's splitmix64: good from any seed, so that neighbouring seeds have nothing in common. */
static uint64_t next(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* 0 to n-1 */
static long below(long n)
{
    return (long)(next() % (uint64_t)n);
}

static bool once_in(long n)
{
    return below(n) == 0;
}

static long within(long x, long min, long max)
{
    return x < min ? min : x > max ? max : x;
}

/* A power of two, or a neighbour of one. */
static long about_a_power(int most)
{
    return (1L << below(most + 1)) + below(3) - 1;
}

static int some_ranks(void)
{
    static const int most[] = {9, 9, 17, RANKS};
    return 1 + (int)below(most[below(4)]);
}

static int some_elements(int p)
{
    const long work = once_in(32) ? MUCH_WORK : WORK, fair = work / ((long)p * p);
    const long most = fair > ALWAYS_POSSIBLE ? fair : ALWAYS_POSSIBLE;
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
    case 3:
        return (int)within(about_a_power(12), 0, most);
    case 4:
    case 5:
        return (int)within(p * below(8) + below(3) - 1, 0, most);
    default:
        return (int)below(most + 1);
    }
}

static long some_value(const cco_param *param)
{
    switch (below(8)) {
    case 0:
    case 1:
        return param->preset;
    case 2:
    case 3:
        return within(param->min + below(4), param->min, param->max);
    case 4:
    case 5:
        return within(param->min + below(64), param->min, param->max);
    case 6:
        return within(about_a_power(30), param->min, param->max);
    default:
        return within(param->max - below(2), param->min, param->max);
    }
}

static world_case some_case(cco_coll coll)
{
    const int properties = cco_coll_infos[coll].properties;
    world_case c = {.coll = coll, .p = some_ranks()};
    c.n = some_elements(c.p);
    c.root = properties & CCO_ROOTED ? (int)below(c.p) : 0;
    c.in_place = world_in_place(coll) && once_in(2);
    c.commutative = !(properties & CCO_REDUCTION) || once_in(2);
    c.gaps = once_in(2);
    c.shape = once_in(4) ? 0 : (unsigned)next();
    c.graph = (unsigned)next();
    c.empties = c.graph >> 16 & 1;
    c.nodes = 1 + (unsigned)(once_in(2) ? below(WORLD_NODES) : below(WORLD_LISTED - 1));
    return c;
}

static void tell(const random_run *r, unsigned long seed, const choice *chosen, const long *params,
                 const world_case *c)
{
    printf("    shape=%u", c->shape);
    for (int i = 0; i < CCO_PARAMS && chosen->algo->params[i].name != NULL; i++)
        printf(" %s=%ld", chosen->algo->params[i].name, params[i]);
    printf("; again: conformance-sim %s%s--random 1 %lu\n", r->only != NULL ? r->only : "",
           r->only != NULL ? " " : "", seed);
}

static void one_case(const random_run *r, unsigned long seed, const choice *chosen)
{
    long params[CCO_PARAMS] = {0};
    const world_case c = some_case(chosen->coll);
    for (int i = 0; i < CCO_PARAMS && chosen->algo->params[i].name != NULL; i++)
        params[i] = some_value(&chosen->algo->params[i]);
    if (!r->run(chosen->algo, &c, params))
        tell(r, seed, chosen, params, &c);
}

int random_cases(const random_run *r)
{
    choice choices[ALGORITHMS];
    int count = 0;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_node_algo_of((cco_coll)coll, i) != NULL && count < ALGORITHMS; i++) {
            choices[count] = (choice){(cco_coll)coll, cco_node_algo_of((cco_coll)coll, i)};
            count += r->wanted(r->only, (cco_coll)coll, choices[count].algo);
        }
    for (long i = 0; i < r->count && count > 0; i++) {
        state = r->seed + (unsigned long)i;
        one_case(r, r->seed + (unsigned long)i, &choices[below(count)]);
    }
    return count;
}
