/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.h - operands of a reduction as its operation wants them: whole elements of the type,
 * gaps and all, in memory of ours, made from packed bytes and packed again.
 *
 * The gaps are ours too: what an operation writes there reaches nobody. */
#ifndef CCO_ELEMENTS_H
#define CCO_ELEMENTS_H

#include "sched/transport.h"

typedef struct cco_elements {
    cco_layout layout; /* of an element */
    cco_reduce_op operation;
    size_t most;            /* elements that are reduced at once */
    char *operand, *result; /* the first of each, as the operation gets its address */
} cco_elements;

/* Elements to reduce at once, of `bytes` packed ones: what stays in a cache, or one.  Local: ranks
 * may differ. */
size_t cco_elements_most(const cco_layout *layout, size_t bytes);

/* Bytes of memory for them. */
size_t cco_elements_room(const cco_layout *layout, size_t most);

/* Sets `operand` and `result`; the other members are set.  `memory` is aligned to 64 bytes, and so
 * is the address that an operation gets.  The data of an element begin `low` bytes from its
 * address. */
void cco_elements_place(cco_elements *e, char *memory, ptrdiff_t low);

/* At most `most` elements, `n` packed bytes: the result becomes these; these op the result; and
 * packed.  Return MPI_SUCCESS or an MPI error class. */
int cco_elements_start(const cco_elements *e, const char *packed, size_t n);
int cco_elements_reduce(const cco_elements *e, const char *packed, size_t n);
int cco_elements_end(const cco_elements *e, char *packed, size_t n);

/* into = from op into, any number of packed bytes of whole elements; the same. */
int cco_elements_combine(const cco_elements *e, const char *from, char *into, size_t n);

#endif
