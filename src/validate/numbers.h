/* SPDX-License-Identifier: BSD-3-Clause */
/* numbers.h - whether two results of a reduction can both be right: the same but for the order in
 * which the operands were combined.  Knows C only.
 *
 * With u the unit roundoff of the type, p the number of operands and gamma_n = n u / (1 - n u), a
 * sum in any order has an error of at most gamma_{p-1} sum|x_i|, a product one of at most
 * gamma_{p-1} |prod x_i| (N. Higham: Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM
 * 2002, sections 4.2 and 3.1), unless a number overflows or underflows on the way.  So two results
 * differ by at most twice that.  A complex product has a relative error of at most sqrt(2) gamma_2
 * in each multiplication (lemma 3.5).  Maximum and minimum are exact.
 *
 * What the bound needs of the operands are weights, one number for each element, which are added up
 * over the ranks by a reduction of their own. */
#ifndef CCO_NUMBERS_H
#define CCO_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/kernels/loops.h"

typedef struct cco_numbers {
    cco_number number; /* of the type; CCO_NUMBERS: the loops do not know it */
    cco_loop loop;     /* CCO_LOOPS: an operation of the program */
    size_t size;       /* bytes of an element, without gaps */
    int operands;      /* at most */
    bool integers;     /* of what the loops do not know: nothing in it is rounded */
    bool ordered;      /* every implementation takes the operands in the same order */
} cco_numbers;

/* How results are compared. */
typedef enum cco_exactness {
    CCO_EXACT,   /* bit by bit */
    CCO_BOUNDED, /* by the bound, with weights */
    CCO_PAIRS,   /* values as numbers, indices bit by bit */
    CCO_UNKNOWN  /* what is not equal bit by bit cannot be judged */
} cco_exactness;
cco_exactness cco_numbers_exactness(const cco_numbers *n);

/* The weights of `count` operands: for a sum |x| (of a complex number |re| + |im|), for a product
 * the binary places by which it moves another number, for a maximum or minimum 1 for a NaN.
 * Numbers that are not finite weigh nothing in a sum. */
void cco_numbers_weigh(const cco_numbers *n, const void *operands, size_t count, double *weights);

typedef enum cco_judged {
    CCO_SAME,    /* both can be right */
    CCO_DIFFER,  /* they cannot */
    CCO_UNJUDGED /* it cannot be known: the order decides whether a number overflows, or how the
                    operation of the program rounds */
} cco_judged;

/* Judges two results, elements without gaps at any address.  `weight` is the sum of the operands'
 * weights, if the exactness is CCO_BOUNDED; below 0 if it is not known. */
cco_judged cco_numbers_judge(const cco_numbers *n, const void *found, const void *expected,
                             double weight);

/* An element as text. */
void cco_numbers_show(const cco_numbers *n, const void *element, char *text, size_t room);

#endif
