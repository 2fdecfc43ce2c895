/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c - see waiting.h.
 *
 * The share of the time that passed in waiting in the samples is taken for that of all calls, so
 * that both parts add up to the time, also if one call took longer than all others together.  Its
 * scatter is that of a ratio of sums. */
#include "profile/waiting.h"

#include <math.h>

static double waiting_larger(double a, double b)
{
    return a > b ? a : b;
}

void cco_wait_sums_add(cco_wait_sums *sums, double after, double time, double clock)
{
    const double waited = after < 0 ? 0 : after > time ? time : after;
    sums->count++;
    sums->waited += waited;
    sums->time += time;
    sums->waited2 += waited * waited;
    sums->time2 += time * time;
    sums->cross += waited * time;
    sums->clock = waiting_larger(sums->clock, clock);
}

/* The 97.5 % point of Student's distribution; within 1 % from 7 degrees on. */
static double waiting_student(double degrees)
{
    return 1.96 + 2.83 / degrees;
}

cco_waiting cco_waiting_of(const cco_wait_sums *sums, uint64_t calls, double time)
{
    if (sums->count == 0 || (sums->count < CCO_SAMPLES_FEW && sums->count < calls))
        return (cco_waiting){0};
    const double n = (double)sums->count, left = 1 - n / waiting_larger((double)calls, n);
    const double share = sums->time > 0 ? sums->waited / sums->time : 0;
    const double squares = sums->waited2 - 2 * share * sums->cross + share * share * sums->time2;
    const double variance = n > 1 ? waiting_larger(squares, 0) / (n - 1) : 0;
    const double spread = n > 1 ? waiting_student(n - 1) * (double)calls *
                                      sqrt(variance / n * waiting_larger(left, 0))
                                : 0;
    return (cco_waiting){.samples = sums->count,
                         .us = share * time,
                         .most = share * time,
                         .spread = spread,
                         .time = time,
                         .clock = sums->clock};
}

void cco_waiting_absorb(cco_waiting *into, const cco_waiting *from)
{
    into->samples = from->samples > into->samples ? from->samples : into->samples;
    into->us += from->us;
    into->most = waiting_larger(into->most, from->most);
    into->spread += from->spread; /* they made the same calls: errors may be alike */
    into->time += from->time;
    into->clock = waiting_larger(into->clock, from->clock);
}
