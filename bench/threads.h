/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h - what the files of crestacoll-threads share. */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <mpi.h>

enum { THREADS_MOST = 16, WAYS_MOST = 12, TURNS_MOST = 1000, BYTES_MOST = 64 << 10 };

double now(void); /* microseconds */

/* How calls are made.  The communicators of its threads. */
struct way {
    const char *name;
    int calls;   /* of a turn, of all threads together */
    int counted; /* what they cost is counted now */
    int begun;   /* each is begun, and ended at once */
    int own;     /* the MPI's own call */
    int (*call)(const struct way *, int thread);
    MPI_Comm comms[THREADS_MOST];
    int ranks, count;
    void *in, *out; /* a piece for each thread */
};

/* Makes the communicators, and what the first calls of each make; false if it is no such way or
 * collective. */
int threads_open(struct way *way, const char *collective, int bytes, int threads);
void threads_close(struct way *way, int threads);

/* Threads that wait for turns: all but the one that calls. */
void threads_start(int threads);
void threads_stop(int threads);

/* One turn: `threads` make `calls` calls together.  Microseconds on this rank. */
double threads_turn(struct way *way, int threads, int calls);

enum { OURS, OTHERS, TAKERS };

struct counts {
    double taken[TAKERS], waited[TAKERS], switches;
};

/* This thread begins calls whose locks count, or ends them. */
void locks_of_calls(int begin);

/* Counts locks from now on, or no more; returns those so far. */
struct counts locks_count(int on);

#endif
