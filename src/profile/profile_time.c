/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_time.c - see profile_time.h. */
#include "profile/profile_time.h"

#include <math.h>

#include "base/clock.h"

/* What calls take longer for two readings of the clock is twice what these take alone. */
enum { PART = 100 /* ticks may have one for a reading */, MEAN_OF = 32 };

static uint64_t close_ticks;
static uint64_t since; /* when calls have been recorded without a break */

/* What interrupted most attempts did not interrupt all of them. */
void cco_profile_time_begin(void)
{
    uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 8; attempt++) {
        const uint64_t start = cco_ticks();
        for (int i = 0; i < 14; i++)
            cco_ticks();
        const uint64_t ticks = (cco_ticks() - start) / 8;
        least = ticks < least ? ticks : least;
    }
    close_ticks = PART * least;
    cco_profile_time_resume(cco_ticks());
}

void cco_profile_time_resume(uint64_t now)
{
    since = now;
}

void cco_profile_time_set_close(uint64_t ticks)
{
    close_ticks = ticks;
}

/* Ticks of a call that was not timed: no more than passed from one to the next. */
static double of_one(const cco_profile_counter *r)
{
    return r->each < r->apart ? r->each : r->apart;
}

/* Before a call that begins `gap` ticks after the end of the last one that was timed.  If that is
 * unlike the gaps before, what is too long for the calls in between may have passed in them or not.
 */
static uint64_t add_untimed(cco_profile_counter *r, uint64_t untimed, uint64_t gap)
{
    uint64_t ticks = (uint64_t)((double)untimed * of_one(r));
    r->untimed += untimed;
    if ((double)gap > 2 * (double)untimed * r->apart) {
        r->unsure += (gap - ticks) / 2;
        ticks += (gap - ticks) / 2;
    }
    r->ticks += ticks;
    return ticks;
}

/* Whether calls will be left out.  What interrupts a process now and then does not change that; a
 * program that calls in bursts has more gaps. */
static void profile_time_follow(cco_profile_counter *r, bool close)
{
    const bool all = r->timed == UINT32_MAX;
    if (close)
        r->close++;
    else
        r->close = all && r->close > CCO_CLOSE_FOR_GAP ? r->close - CCO_CLOSE_FOR_GAP : 0;
    const uint64_t most = r->ticks / CCO_UNSURE_PART;
    if (all && close && r->close >= CCO_CLOSE_CALLS && r->unsure <= most / 2)
        r->timed = UINT32_MAX / CCO_TIMED_EVERY;
    else if (r->unsure > most)
        r->timed = UINT32_MAX;
}

/* Adds to the means of the last calls. */
static void add_to_means(cco_profile_counter *r, double took, double apart, bool sampled)
{
    const double off = took - r->each;
    r->each += off / MEAN_OF;
    r->apart += (apart - r->apart) / MEAN_OF;
    r->squares += sampled ? off * off : 0;
    r->sampled += sampled;
}

uint64_t cco_profile_time(cco_profile_counter *r, uint64_t start, uint64_t end)
{
    const uint64_t untimed = r->calls - r->counted;
    const bool known = r->end > since && start > r->end && end > start;
    const uint64_t apart = known ? (end - r->end) / (untimed + 1) : 0;
    const bool close = known && apart < close_ticks;
    const uint64_t before = untimed > 0 ? add_untimed(r, untimed, known ? start - r->end : 0) : 0;
    if (close)
        add_to_means(r, (double)(end - start), (double)apart, untimed > 0);
    if (known)
        profile_time_follow(r, close);
    r->counted = ++r->calls;
    r->ticks += end - start;
    r->end = end;
    return before;
}

double cco_profile_ticks(const cco_profile_counter *r)
{
    return (double)r->ticks + (double)(r->calls - r->counted) * of_one(r);
}

double cco_profile_ticks_error(const cco_profile_counter *r)
{
    const double n = (double)r->sampled;
    const double scatter = n > 1 ? sqrt(r->squares / (n - 1) / n) : 0;
    return (double)r->unsure + 1.96 * (double)r->untimed * scatter;
}
