/* SPDX-License-Identifier: BSD-3-Clause */
/* dice.h - random numbers that repeat.  Ranks that start from the same seed draw alike. */
#ifndef CHANCE_DICE_H
#define CHANCE_DICE_H

#include <stdbool.h>

typedef unsigned long dice;

/* SplitMix64, after G. Steele et al., 2014. */
static inline unsigned long dice_next(dice *d)
{
    unsigned long z = *d += 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

static inline int below(dice *d, int n)
{
    return (int)(dice_next(d) % (unsigned long)n);
}

static inline bool one_in(dice *d, int n)
{
    return below(d, n) == 0;
}

/* Dice of their own for one purpose. */
static inline dice dice_of(unsigned long seed, unsigned long a, unsigned long b)
{
    dice d = seed;
    d = dice_next(&d) + a;
    d = dice_next(&d) + b;
    return dice_next(&d);
}

#endif
