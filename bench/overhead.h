/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead.h - the parts of crestacoll-overhead. */
#ifndef BENCH_OVERHEAD_H
#define BENCH_OVERHEAD_H

/* A member of a JSON object: the median, and how values scatter. */
void overhead_print(const char *name, double *values, int n);

/* Communicators, by the MPI alone and by crestacoll. Collective over MPI_COMM_WORLD; rank 0 prints
 * one JSON line. */
void overhead_comms(int turns);

/* Calls with and without a profile, in blocks of so many, four blocks a turn; likewise. */
void overhead_profile(int turns, int calls);

#endif
