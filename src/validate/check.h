/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - one call that is checked, from its begin to its end. */
#ifndef CCO_CHECK_H
#define CCO_CHECK_H

#include "comm/comm.h"
#include <stdbool.h>
#include "validate/numbers.h"
#include "validate/reference.h"
#include "validate/sample.h"
#include "validate/shadow.h"

/* Why a call of the sample was not checked. */
typedef enum cco_skip {
    CCO_CHECKED,
    CCO_SKIP_LARGE,     /* its copies take more than CRESTA_VALIDATE_MEMORY, */
    CCO_SKIP_NO_MEMORY, /* or more than there is */
    CCO_SKIP_HOLES,     /* gaps of its types lie where there is no memory */
    CCO_SKIP_DEVICE,    /* buffers may lie in a GPU's memory */
    CCO_SKIP_SAME,      /* the MPI's own call is a known defect, and the other reference ran */
    CCO_SKIP_EMPTY,     /* it moves no data */
    CCO_SKIP_FAILED,    /* it, or the reference, returned an error */
    CCO_SKIP_WAITING,   /* earlier begun calls, whose checks are not over, take the memory */
    CCO_SKIP_BEGUN,     /* it is begun, and among neighbors, or with the program's operation */
    CCO_SKIPS
} cco_skip;

struct cco_validate_request_checks; /* validate/request.h */

/* What validation keeps of a communicator. */
typedef struct cco_validated {
    cco_comm *state;
    cco_sample sample, begins;         /* blocking calls, begun ones */
    uint32_t reported, begun_reported; /* bit per collective whose difference was reported */
    struct cco_check *check;           /* the memory of the one that is on */
    struct cco_validate_request_checks *begun; /* NULL: none can be begun yet */
} cco_validated;

typedef struct cco_check {
    cco_validated *of;
    const cco_choice *choice;
    cco_call call;
    MPI_Count bytes;
    uint64_t number; /* of the call on its communicator */
    bool in_place;
    bool begun; /* the call goes on while the program does something else */
    cco_reference reference;
    cco_numbers numbers; /* of a reduction */
    bool weighs;         /* its results need weights */
    cco_covered in, out; /* what it reads, and what it writes */
    cco_shadow before;   /* of what is overwritten and needed later, */
    cco_shadow expected; /* of the receive buffer: the reference's */
    double *weights[2];  /* of operands, and their sums */
    char *packed[2];     /* room for a block of elements with gaps, found and expected */
    double began, ran;   /* when the check began, and the call itself, in seconds */
} cco_check;

/* Describes a call, and how much memory its check takes; without communication. */
cco_skip cco_check_prepare(cco_check *check, size_t *bytes);

/* Copies what it needs; without communication. */
cco_skip cco_check_copy(cco_check *check);

/* The end whose memory it needs of before the call: in place, a reduction reads more than it
 * writes. */
const cco_covered *cco_check_end_before(const cco_check *check);

/* The call on the copies; afterwards the weights of its operands, added up by the same collective.
 */
cco_call cco_check_call(const cco_check *check);
cco_call cco_check_weighing(const cco_check *check, const cco_call *done);

/* Makes both of a blocking call; collective.  False if that failed. */
bool cco_check_again(cco_check *check);

/* Frees what it holds. */
void cco_check_empty(cco_check *check);

#include "mpi/mpi_compat.h"

/* True if no part of a type is a floating number, so that no operation of the program rounds. */
bool cco_leaves_are_exact(MPI_Datatype type);

#endif
