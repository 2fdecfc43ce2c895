/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.h - what the standard wants to be equal on all ranks of a collective call, in a few
 * words that ranks compare (CRESTA_DEBUG=match). */
#ifndef CCO_SIGNATURE_H
#define CCO_SIGNATURE_H

#include "comm/comm.h"

/* All but the last are equal on all ranks of a right program. */
typedef struct cco_signature {
    int64_t coll;    /* cco_coll; CCO_SIGNATURE_INVALID: the arguments are wrong;
                       CCO_SIGNATURE_END: no more until MPI_Comm_free or MPI_Finalize */
    int64_t begun;   /* cco_signature_begun */
    int64_t root;    /* -1: none */
    int64_t bytes;   /* of a CCO_SIZED collective, else -1 */
    uint64_t op;     /* a number for each predefined operation, 1 for all others, 0: none */
    uint64_t counts; /* of reduce_scatter, hashed */
    uint64_t pairs;  /* bytes between pairs of ranks, hashed: what this rank gives less what it
                        takes; the sum over all ranks is 0 */
} cco_signature;

enum { CCO_SIGNATURE_INVALID = -1, CCO_SIGNATURE_END = -2 };

typedef enum cco_signature_begun {
    CCO_SIGNATURE_BLOCKS,
    CCO_SIGNATURE_STARTS,
    CCO_SIGNATURE_PERSISTS /* the call that makes a persistent request */
} cco_signature_begun;

cco_signature cco_signature_of(const cco_comm *state, const cco_call *call, bool valid,
                               cco_signature_begun begun);

/* Whether two ranks make the same call, as far as each tells alone. */
bool cco_signature_same(const cco_signature *a, const cco_signature *b);

/* A line for people. */
void cco_signature_show(const cco_signature *s, char *text, size_t room);

/* Bytes that this rank gives to each rank and takes from each (-1: none), of collectives in which
 * only the pair knows; `row` has room for twice the ranks.  False for all others. */
bool cco_signature_row(const cco_comm *state, const cco_call *call, int64_t *row);

#endif
