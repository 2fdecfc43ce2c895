/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - what is to be simulated: lines of words, in this order.
 *
 *   ranks N
 *   nodes NxM                        as CRESTA_NODES
 *   machine NAME=VALUE,...           machine.h
 *   queues yes|no
 *   skew none|uniform|exponential|normal SECONDS SEED
 *                                    when ranks begin: up to so much later; so much later in the
 *                                    mean; so much around the earliest
 *   topology torus:D|stencil:D|random:K|spikes:K
 *                                    of each communicator of the calls that follow, all of which
 *                                    need one (graph.h); none if it is missing
 *   compute SECONDS                  any number of these two
 *   call COLLECTIVE BYTES ALGORITHM SIZE STRIDE ROOT
 *                                    bytes as in call/call.h; ALGORITHM: "bruck?k=4"; "preset",
 * what p2p takes, "node_preset", what hier does; SIZE and STRIDE of the communicators: play.h
 *   overlap SECONDS thread|none      computation between the begin of the call before this line and
 *                                    its end, while a thread drives the messages, or nobody
 *   repeat TIMES                     all of them, once if it is missing
 *   records N                        messages at once beyond which they are kept small (aside.h);
 *                                    the answer is the same
 *   trace BANDWIDTH                  writes them for another simulator, too: trace.h
 *
 * Only compute, call and overlap may come several times. */
#ifndef SIMULATE_JOB_H
#define SIMULATE_JOB_H

#include <stdio.h>

#include "play.h"

/* A call, and the programs of its communicators. */
typedef struct job_call {
    cco_coll coll;
    const cco_algo *algo; /* NULL: a preset */
    bool by_nodes;        /* which */
    long params[CCO_PARAMS];
    size_t bytes;
    int root;
    uint32_t *program, *sort;
} job_call;

typedef struct job {
    int ranks;
    cco_node_map *nodes;
    machine machine;
    bool queues;
    char topology[32]; /* "": none */
    double *start;     /* picoseconds; NULL: all at once */
    phase *phases;     /* a call each, or none */
    job_call *calls;
    int count, times;
    size_t records;
    double trace; /* bandwidth of its links, bytes a second; 0: no trace */
    programs programs;
} job;

/* Reads it and makes the programs.  False, and what is wrong is on standard error. */
bool job_read(job *j, FILE *from);
void job_free(job *j);

#endif
