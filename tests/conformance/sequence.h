/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.h - calls one after the other, of ranks that are coroutines of one process: each gives
 * way to another, at random, where it would wait, and goes on to the next call when it is through,
 * however far behind the others are. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "world.h"

enum { SEQUENCE_CALLS = 6, SEQUENCE_RANKS = 200 }; /* at most */

typedef struct sequence {
    int size;   /* ranks */
    int calls;  /* of each */
    long looks; /* turns of ranks, more than any sequence takes */
    world_case cases[SEQUENCE_CALLS];
    /* One rank's call, by what is tested; an error class of MPI. */
    int (*call)(int me, world *w);
    void (*explain)(void); /* adds to the line of a failure; may be NULL */
} sequence;

/* Sums over all sequences: calls that were run, what failed, lines that were logged. */
extern long sequence_runs, sequence_failures, sequence_logged;

/* The last cache that ranks see (base/core_place.h): none if not set. */
extern size_t sequence_cache;

/* Memory for so many ranks; gives it back. */
void sequence_open(int ranks, size_t stack);
void sequence_close(void);

/* Runs one, and checks what came out. */
void sequence_run(const sequence *s);

/* The operation of the call under way, as reduce/kernels.h has those of the standard: to[i] = a[i]
 * op b[i], where `to` may be either. */
void sequence_kernel(const void *a, const void *b, void *to, size_t n);

/* Counts a failure and tells it. */
void sequence_fail(const world *w, const char *what);

#endif
