/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided.h - the one-sided steps of the simulator; for sim.c.
 *
 * A rank knows of every other how many of its rounds are over (a vector clock); notifications carry
 * that, an await adds it.  Each rank keeps the accesses to its slots; a new one must know of those
 * it meets, if one of the two writes.  What matters is who notified whom in which round, not when
 * a step happens to run, so a race is found in any order of running. */
#ifndef CCO_ONESIDED_H
#define CCO_ONESIDED_H

#include "simulator/sim.h"

/* Makes sim->onesided if a schedule has such steps.  All functions but begin and end need it.
 * Where nothing else is said, false means that something is wrong. */
bool cco_onesided_begin(cco_sim *sim);
void cco_onesided_end(cco_sim *sim);

/* A round of a rank opens: what the rounds before learned counts. */
void cco_onesided_open(cco_sim *sim, int rank);

/* A put, get or notify.  Its own memory of the rank is not checked. */
bool cco_onesided_run(cco_sim *sim, int rank, const cco_step *step);

/* Rank `who` touches a span of the rank `owner` in the open round of `who`. */
bool cco_onesided_touch(cco_sim *sim, int who, int owner, cco_span span, bool writes);

/* Takes the notifications that a rank awaits.  True if one came. */
bool cco_onesided_await(cco_sim *sim, int rank);

/* After the last step of all. */
void cco_onesided_check_end(cco_sim *sim);

#endif
