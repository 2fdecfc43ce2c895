/* SPDX-License-Identifier: BSD-3-Clause */
/* sockets.h - an alltoall of two ranks without the MPI: two threads with a plain socket, one
 * blocked in send and one in recv.  Where the network is the kernel's, this is what can be hidden
 * at all. */
#ifndef BENCH_SOCKETS_H
#define BENCH_SOCKETS_H

#include "bench.h"

/* Connects the ranks and starts the threads; collective.  NULL on all ranks, or on all why not. */
const char *bench_sockets_open(const struct bench_world *w);
void bench_sockets_close(void);

/* Only their alltoall is there: a begin, which bench_sockets_end completes, and both at once. */
extern const struct bench_calls bench_sockets_begin, bench_sockets_whole;
int bench_sockets_end(void);

#endif
