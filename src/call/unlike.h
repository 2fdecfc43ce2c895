/* SPDX-License-Identifier: BSD-3-Clause */
/* unlike.h - ranks whose calls do not match: one gives other bytes than the other takes, or they
 * make different calls. */
#ifndef CCO_UNLIKE_H
#define CCO_UNLIKE_H

#include "mpi/mpi_compat.h"
#include "call/stamp.h"

/* The first that a call has met. */
typedef struct cco_unlike {
    bool met;
    int rank;             /* of the communicator: the other one */
    uint64_t here, there; /* stamps of the calls; `there` is 0 if that is not known */
    bool gives;           /* this rank has more, or less, to give than the other takes */
    bool heard;           /* another rank has met one, and left */
    bool in_mpi;          /* the other has gone to the MPI with this call, as it seems */
} cco_unlike;

/* MPI_ERR_TRUNCATE if the calls differ in their bytes only, else MPI_ERR_OTHER. */
static inline int cco_unlike_class(uint64_t here, uint64_t there)
{
    return there == 0 || cco_stamp_alike(here, there) ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

/* Keeps the first, unless `unlike` is NULL; returns the class of the error. */
static inline int cco_unlike_note(cco_unlike *unlike, int rank, uint64_t here, uint64_t there)
{
    if (unlike != NULL && !unlike->met)
        *unlike = (cco_unlike){.met = true, .rank = rank, .here = here, .there = there};
    return cco_unlike_class(here, there);
}

/* Says which calls they are, on a communicator: its name, this rank there, and how many ranks it
 * has. */
void cco_unlike_tell(const char *name, int rank, int size, const cco_unlike *unlike);

#endif
