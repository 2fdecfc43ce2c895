/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.h - how long a rank waited for the last one, in all calls of a row of the profile, from
 * those in which it is known. */
#ifndef CCO_WAITING_H
#define CCO_WAITING_H

#include <stdint.h>

enum { CCO_SAMPLES_FEW = 8 /* fewer say nothing of the calls that were not sampled */ };

/* Sums over the samples of one rank, in microseconds. */
typedef struct cco_wait_sums {
    uint64_t count;
    double waited, time;          /* until the last rank came, and in the call */
    double waited2, time2, cross; /* squares, and products of both */
    double clock;                 /* by which clocks may make one call wrong, at most */
} cco_wait_sums;

/* The waiting of one rank or, added up, of several. */
typedef struct cco_waiting {
    uint64_t samples;        /* of the rank with the most; 0: unknown */
    double us, most, spread; /* in all calls: sum, of one rank, half of the 95 % interval */
    double time;             /* of the ranks of which it is known */
    double clock;            /* as above */
} cco_waiting;

/* Adds a call of `time` in which the last rank came `after` microseconds, if not after its end. */
void cco_wait_sums_add(cco_wait_sums *sums, double after, double time, double clock);

/* What samples say of all calls, which took `time`. */
cco_waiting cco_waiting_of(const cco_wait_sums *sums, uint64_t calls, double time);

/* Adds that of other ranks. */
void cco_waiting_absorb(cco_waiting *into, const cco_waiting *from);

#endif
