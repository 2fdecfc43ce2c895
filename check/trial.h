/* SPDX-License-Identifier: BSD-3-Clause */
/* trial.h - one problem (a call, its buffers, what must come out) run by the reference and in every
 * mode. */
#ifndef CHECK_TRIAL_H
#define CHECK_TRIAL_H

#include "call.h"
#include "layout.h"

struct group { /* a communicator to test on */
    const char *name;
    MPI_Comm comm; /* MPI_COMM_NULL where this process is not in it */
    int rank, size;
};

struct trial {
    struct call call;
    const struct buffer *send, *recv;     /* NULL where the call has none on this rank */
    void (*forgive)(struct trial *trial); /* before comparing: undefined bytes, may be NULL */
    const void *detail;                   /* for forgive */
    bool in_place;                        /* on the ranks where the call can be */
    long number;                          /* of the problem */
};

struct tally {
    long tried, refused; /* calls; of these by MPI_ERR_UNSUPPORTED_OPERATION */
};

struct plan {            /* how much to run */
    unsigned modes;      /* bit mask of enum mode */
    unsigned colls;      /* bit mask of enum coll */
    int every;           /* each mode tries every n-th problem, another one each */
    int half;            /* 1 or 2: only this half of them; 0: all */
    bool reference;      /* the MPI's own call too */
    bool protected;      /* send buffers are overwritten after a begin */
    bool strict;         /* nothing ends in the MPI's own collectives, so that their known faults
                            are no excuse */
    struct tally *tally; /* not NULL: a call may be refused */
    void (*choose)(const void *choice, MPI_Comm comm); /* what is tried, on another communicator */
    const void *choice;
};

#define EVERYTHING (~0U)

/* Does a problem of this number run at all, in any mode? */
bool trial_due(long number, const struct plan *plan);

/* Run and compare; report_problem has said what is tried. */
void trial_run(struct trial *trial, const struct plan *plan);

/* Counts a call; true if it was refused.  All ranks know that, so that nobody waits for it. */
bool trial_refused(int rc, const struct plan *plan);

/* All data-movement problems, all reductions, and the barrier on one communicator. */
void movement_run(const struct group *group, const struct plan *plan);
void reduction_run(const struct group *group, const struct plan *plan);
void barrier_run(const struct group *group, const struct plan *plan);

/* One that no MPI has, on a communicator with that graph. */
struct near_reduction {
    const char *name;
    const struct graph *graph;
    MPI_Comm comm;
    int rank, n;
    enum coll coll;
    long number; /* says which kind, and whether in place */
};
void near_reduction_run(const struct near_reduction *r, const struct plan *plan);

/* Neighbourhood collectives, on communicators that are made of this one's ranks. */
void neighbors_run(const struct group *group, const struct plan *plan);

#endif
