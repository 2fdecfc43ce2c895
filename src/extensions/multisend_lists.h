/* SPDX-License-Identifier: BSD-3-Clause */
/* multisend_lists.h - what lists of ranks of a communicator share (cresta_multisend.h): a
 * communicator of ours, and a tag on it for each list, whatever their number.
 *
 * Tags are given by counting, which all ranks do alike.  When they come round, the ranks agree on
 * those that none has in use. */
#ifndef CCO_MULTISEND_LISTS_H
#define CCO_MULTISEND_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"

enum {
    CCO_LISTS_TAGS = 32767, /* that every MPI has; 0 is of CRESTA_Sneighbor_alltoall */
    CCO_LISTS_WORDS = (CCO_LISTS_TAGS + 63) / 64
};

typedef struct cco_lists {
    MPI_Comm comm;                  /* of ours */
    uint64_t used[CCO_LISTS_WORDS]; /* bit per tag, on this rank */
    int next;                       /* the next one to give, if not all were given */
    uint64_t number;                /* comm/teardown.h */
    int users;                      /* the communicator, and each list */
    bool ended;                     /* the communicator has been freed */
} cco_lists;

/* Those of an intracommunicator; collective when it has none yet.  NULL on all ranks: it is no
 * intracommunicator, or the MPI makes none for us (cco_lists_why). */
cco_lists *cco_lists_of(MPI_Comm comm);
int cco_lists_why(MPI_Comm comm);

/* A tag that no list in use has; collective.  MPI_ERR_OTHER on all ranks if there is none. */
int cco_lists_take_tag(cco_lists *lists, int *tag);
void cco_lists_give_tag(cco_lists *lists, int tag); /* local */

/* A list that has been made, and one that is no more: it may outlive its communicator. */
void cco_lists_hold(cco_lists *lists);
void cco_lists_drop(cco_lists *lists);

/* Tells the program an error, and returns its class. */
int cco_lists_refuse(MPI_Comm comm, int error);

#endif
