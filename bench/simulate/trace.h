/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h - the programs of all ranks as a trace that SimGrid's SMPI replays
 * (docs/lab/simulator.md).
 *
 * What a rank does by itself, overheads too, becomes a sleep.  A message has as many bytes there as
 * the links carry in the time that it occupies one here, less the 16 that SMPI adds to each. */
#ifndef SIMULATE_TRACE_H
#define SIMULATE_TRACE_H

#include "play.h"

typedef struct trace {
    double bandwidth;       /* of all links there, bytes a second */
    long long eager;        /* bytes there of the largest message that does not wait; -1: none */
    long long waiting;      /* ... of the smallest one that waits for its receiver; -1: none */
    bool waiting_in_a_node; /* one of these stays in a node */
} trace;

/* Writes rank0.txt, rank1.txt, ... in the current directory, and fills in the rest of `t`.  False,
 * and what cannot be written is on standard error. */
bool trace_write(const play *p, trace *t);

#endif
