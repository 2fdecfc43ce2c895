/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - one call that is checked, from its begin to its end. */
#ifndef CCO_CHECK_H
#define CCO_CHECK_H

#include "core/comm.h"
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
    CCO_SKIPS
} cco_skip;

/* What validation keeps of a communicator. */
typedef struct cco_validated {
    cco_comm *state;
    cco_sample sample;
    uint32_t reported; /* bit per collective of which a difference was reported */
    struct cco_check *check; /* the memory of the one that is on */
} cco_validated;

typedef struct cco_check {
    cco_validated *of;
    const cco_choice *choice;
    cco_call call;
    MPI_Count bytes;
    uint64_t number; /* of the call on its communicator */
    bool in_place;
    cco_reference reference;
    cco_numbers numbers; /* of a reduction */
    bool weighs;         /* its results need weights */
    cco_covered in, out;     /* what it reads, and what it writes */
    cco_shadow before;   /* of what is overwritten and needed later, */
    cco_shadow expected; /* of the receive buffer: the reference's */
    double *weights[2];  /* of operands, and their sums */
    char *packed[2];     /* room for a block of elements with gaps, found and expected */
    double began, ran; /* when the check began, and the call itself, in seconds */
} cco_check;

/* Describes a call, and how much memory its check takes; without communication. */
cco_skip cco_check_prepare(cco_check *check, size_t *bytes);

/* Copies what it needs; without communication. */
cco_skip cco_check_copy(cco_check *check);

/* Makes it once more; collective.  False if that failed. */
bool cco_check_again(cco_check *check);

/* Frees what it holds. */
void cco_check_empty(cco_check *check);

#endif
