/* SPDX-License-Identifier: BSD-3-Clause */
/* compare.h - the result of a call and that of its reference, element by element. */
#ifndef CCO_COMPARE_H
#define CCO_COMPARE_H

#include "validate/check.h"

/* The first difference on this rank. */
typedef struct cco_difference {
    int32_t rank;
    int32_t gap;    /* it is in a gap between data, which no call may touch */
    int64_t block;  /* of the receive buffer, */
    int64_t offset; /* bytes from the start of that buffer to the element; element of the block */
    int64_t element;
    int64_t wrong; /* elements that differ on this rank */
    char expected[96], found[96];
} cco_difference;

/* Compares; true if there is no difference on this rank.  `*unjudged` counts elements. */
bool cco_compare(cco_check *check, cco_difference *first, uint64_t *unjudged);

#endif
