/* SPDX-License-Identifier: BSD-3-Clause */
/* common_clock.h - when something happened, on a clock that all ranks of the world share.
 *
 * Processes under one boot of a kernel and in one name space of time read one clock, the kernel's.
 * Clocks of other kernels are compared with it by messages, when a profile begins and whenever it
 * is evaluated; in between both are taken to run evenly. */
#ifndef CCO_COMMON_CLOCK_H
#define CCO_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mpi/mpi_compat.h"

/* Nanoseconds: when the other clock showed `theirs`, this one showed `mine`, up to `error`. */
typedef struct cco_clock_pair {
    int64_t mine, theirs, error;
} cco_clock_pair;

/* How one clock follows from another: `to` when that shows `at`, and faster by `drift`. */
typedef struct cco_clock_line {
    int64_t at, to;
    double drift;
    double loose; /* part of itself by which the rate, 1 + drift, is wrong at most */
    double error; /* nanoseconds at most, between the two moments that it was made from */
} cco_clock_line;

/* The line through two moments, and one line after another. */
cco_clock_line cco_clock_through(const cco_clock_pair *first, const cco_clock_pair *last);
cco_clock_line cco_clock_after(const cco_clock_line *first, const cco_clock_line *then);

/* By how much the first clock is ahead of the other one when that shows `to`, and how wrong that
 * is at most; by how much it is faster, likewise. */
typedef struct cco_clock_ahead {
    double by, error, faster, faster_error;
} cco_clock_ahead;

cco_clock_ahead cco_clock_ahead_at(const cco_clock_line *line, int64_t to);

static inline int64_t cco_clock_on(const cco_clock_line *line, int64_t at)
{
    const int64_t since = at - line->at;
    return line->to + since + (int64_t)(line->drift * (double)since);
}

/* The clock of this rank, nanoseconds.  No step or slewing of the time of day moves it. */
int64_t cco_clock_here(void);

/* Both are collective over a communicator of ours like the world.  Lines lead from the first one,
 * which no rank leaves before all have compared, to the latest call of the second one, in which no
 * rank compares before all are there. */
void cco_common_clock_begin(MPI_Comm comm);
void cco_common_clock_compare(MPI_Comm comm);

/* Since then: false if ranks failed to compare, else how the clock of rank 0 follows from that of
 * this rank, and the number of the clock that this rank has. */
bool cco_common_clock(cco_clock_line *line, int *number);

/* On rank 0: a JSON array with an object for each clock. */
void cco_common_clock_put(FILE *file);

#endif
