/* SPDX-License-Identifier: BSD-3-Clause */
/* element.h - one element in memory that processes or threads share, changed as accumulates of
 * MPI-RMA change it (MPI 4.1, section 12.7.1): each change of an element is atomic with respect to
 * every other one of the same type.
 *
 * Integers, logical values and bytes of 1, 2, 4 and 8 bytes, on an address that is a multiple of
 * their size, are words: they change by the processor's atomic operations.  All other elements
 * change under a lock that is in shared memory, too: floating-point numbers, which the processor
 * cannot add in memory, many at once.  Which way an element takes depends on its type and address
 * only, so that all who change it take the same. */
#ifndef CCO_ELEMENT_H
#define CCO_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reduce/kernels/loops.h"
#include "mpi/mpi_compat.h"

/* What becomes of the element, given an operand. */
typedef enum cco_change {
    CCO_CHANGE_NONE,    /* MPI_NO_OP */
    CCO_CHANGE_REPLACE, /* the operand: MPI_REPLACE */
    CCO_CHANGE_ADD,     /* these four of integers */
    CCO_CHANGE_AND,
    CCO_CHANGE_OR,
    CCO_CHANGE_XOR,
    CCO_CHANGE_COMPUTE /* any other operation: computed, and kept if the element was not changed */
} cco_change;

typedef struct cco_element {
    size_t size;   /* bytes from the first to the last that hold data; at most CCO_ELEMENT_ROOM */
    size_t extent; /* bytes to the next one in a row */
    bool number;   /* a floating-point or complex number: no word */
    bool compares; /* MPI_Compare_and_swap takes it: it has no gaps, and equal elements have equal
                      bytes */
    cco_change change;
    cco_kernel kernel; /* of what is computed, and of what is no word; NULL: MPI_Reduce_local */
    MPI_Datatype type; /* computes it, with these */
    MPI_Op op;
} cco_element;

enum { CCO_ELEMENT_ROOM = 64 };

/* In shared memory, zero at first; alone in its cache line. */
typedef struct cco_element_lock {
    uint32_t held;
    char rest[60];
} cco_element_lock;

/* Changes the row of `n` elements at `target`, each atomically.  What they were goes to `result`,
 * if that is not NULL.  `operand` is not read by CCO_CHANGE_NONE.  `lock` is the same for all who
 * may change these elements. */
void cco_element_change(const cco_element *element, size_t n, void *target, const void *operand,
                        void *result, cco_element_lock *lock);

/* What the element was goes to `result`; if that equals `compare`, it becomes `operand`. */
void cco_element_compare(size_t size, void *target, const void *compare, const void *operand,
                         void *result, cco_element_lock *lock);

#endif
