/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - of what kind the elements and the operation of a reduction are, for rules that depend
 * on it.
 *
 * Only reductions have classes: MPI wants the same type and the same operation on all ranks there.
 * Other collectives want the same signature only, so that one rank may give a derived type where
 * another gives a predefined one. */
#ifndef CCO_CLASSES_H
#define CCO_CLASSES_H

#include "call/call.h"

/* Bits.  A reduction has one for its type, and one or more for its operation. */
enum {
    CCO_TYPE_INTEGER = 1,
    CCO_TYPE_FLOATING = 2, /* real and complex */
    CCO_TYPE_OTHER = 4,    /* predefined: logical values, bytes, pairs */
    CCO_TYPE_DERIVED = 8,
    CCO_OP_PREDEFINED = 16,
    CCO_OP_USER = 32,
    CCO_OP_COMMUTATIVE = 64,
    CCO_OP_NONCOMMUTATIVE = 128,
    CCO_OP_ROUNDING =
        256,       /* MPI_SUM or MPI_PROD of floating numbers: the order tells in the bits */
    CCO_TYPES = 15 /* all that are of types */
};

/* What a rule calls a class, for i = 0, 1, ...; NULL after the last.  `types`: of types. */
const char *cco_class_name(bool types, int i);
unsigned cco_class_bit(bool types, int i);

/* The classes of a call with valid arguments; 0 if it is no reduction.  Local. */
unsigned cco_classes_of(const cco_call *call);

/* The classes, if the last call had the same type and operation, and these are of the standard,
 * whose handles stay what they are; false if not. */
bool cco_classes_again(const cco_call *call, unsigned *classes);

#endif
