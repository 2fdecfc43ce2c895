/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_time.h - the time of calls in a record, where to time each of them would be dear.
 *
 * Two readings of the clock make a call of a microsecond 5 % longer.  So where thousands of calls
 * came that close after each other, only one in CCO_TIMED_EVERY is timed, and the others count as
 * long as these.  What passes between two that are timed says whether that can be true: of a longer
 * gap it is not known whether the program computed or a call in it was long.  Half of it counts.
 * Once such halves are too large a part of the time, each call is timed until they no longer are.
 */
#ifndef CCO_PROFILE_TIME_H
#define CCO_PROFILE_TIME_H

#include <stdint.h>

#include "profile/profile.h"

enum {
    CCO_TIMED_EVERY = 32,
    CCO_CLOSE_CALLS = 2048,  /* before others are left out: */
    CCO_CLOSE_FOR_GAP = 256, /* a gap takes so many from them; */
    CCO_UNSURE_PART = 20     /* until one in so many ticks of calls may not have passed in them */
};

/* Measures what it takes to time a call. */
void cco_profile_time_begin(void);

/* Calls are close that begin less than so many ticks after each other; for tests. */
void cco_profile_time_set_close(uint64_t ticks);

/* A call that was timed.  Returns the time of those before that were not, in ticks. */
uint64_t cco_profile_time(cco_profile_counter *record, uint64_t start, uint64_t end);

/* From now on, in ticks, calls are recorded again: nothing is known of the time before. */
void cco_profile_time_resume(uint64_t now);

/* Whether a call has to be timed; it is one of those with the smallest hashes
 * (cco_arrivals_hash). */
static inline bool cco_profile_times(const cco_profile_counter *record, uint32_t hash)
{
    return hash <= record->timed;
}

/* In all calls so far, and half of the 95 % interval of that; ticks. */
double cco_profile_ticks(const cco_profile_counter *record);
double cco_profile_ticks_error(const cco_profile_counter *record);

#endif
