/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.h - the schedules of all ranks run in one process, without MPI, and are watched.
 *
 * Sends are rendezvous: a round of a rank ends only when its messages have met their receives, as
 * with large messages of any MPI.  Found: deadlock, messages of unequal size, data read that nobody
 * wrote, memory outside of a buffer, steps of one round that touch the same memory.
 *
 * In one-sided steps it finds every two accesses that sched.h wants ordered and no notification
 * orders, in whatever order they happen to run here; also places outside of a slot, slots touched
 * before they are known to be open or after their owner may have left, and notifications left. */
#ifndef CCO_SIM_H
#define CCO_SIM_H

#include <stdint.h>

#include "sched/step.h"

enum { CCO_SIM_RANKS = 512 };

/* A base of a rank: its memory, and a byte for each that is not 0 once it was written. */
typedef struct cco_memory {
    unsigned char *data, *written;
    size_t size;
} cco_memory;

typedef struct cco_sim_rank {
    const cco_sched *sched;
    cco_memory memory[CCO_BASES];
    int at;                             /* the first step of its round */
    int end;                            /* behind the last */
    unsigned char *done;                /* per step */
    int left;                           /* messages of its round that have not met */
    int rounds;                         /* with a message */
    int begun, ended;                   /* its round, in messages one after the other */
    uint64_t heard[CCO_SIM_RANKS / 64]; /* the ranks whose start this one knows of */
    uint64_t known[CCO_SIM_RANKS / 64]; /* those it knew of when its round began */
} cco_sim_rank;

/* into = from op into, for one element of `n` bytes. */
typedef void (*cco_sim_reduce_fn)(const void *from, void *into, size_t n);

typedef struct cco_sim_op {
    cco_sim_reduce_fn reduce;
    size_t element;
} cco_sim_op;

typedef struct cco_sim {
    cco_sim_rank *ranks;
    int size;
    bool count_only; /* no memory but its sizes: places are watched, data neither moved nor read */
    bool checked;    /* these schedules ran before: their places are known to be apart */
    cco_sim_reduce_fn reduce;
    const cco_sim_op *operations; /* of steps that have the number of one */
    uint64_t messages, bytes;     /* counted; puts and gets are messages */
    uint64_t notifications;
    int rounds;                    /* of the rank with most of them */
    int chain;                     /* messages that had to wait for each other, at most */
    struct cco_onesided *onesided; /* while it runs, if there are such steps (onesided.h) */
    char why[256];                 /* the first thing that was wrong; "" if nothing */
} cco_sim;

/* Runs the schedules to their end.  True if nothing was wrong. */
bool cco_sim_run(cco_sim *sim);

#endif
