/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_waiting.c - see profile_waiting.h. */
#include "profile/profile_waiting.h"

#include <pthread.h>

#include "profile/arrivals_merge.h"
#include "base/clock.h"
#include "comm/comm.h"
#include "profile/common_clock.h"
#include "profile/timeline.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cco_arrival_sets gathered;
static int64_t gathered_from;

static void profile_waiting_gather(cco_comm *state)
{
    cco_arrivals_add_copies(&gathered, state->records.arrivals, gathered_from);
}

/* All that this rank has since a moment, of communicators that are there and that are gone. */
static cco_arrival_sets arrivals_since(int64_t from)
{
    pthread_mutex_lock(&lock);
    gathered = cco_arrivals_of_gone(from);
    gathered_from = from;
    cco_comm_for_each(profile_waiting_gather);
    cco_arrival_sets sets = gathered;
    pthread_mutex_unlock(&lock);
    cco_arrival_sets_sort(&sets);
    return sets;
}

/* The moment now, on the clock of this rank and in ticks, and their length. */
typedef struct moment {
    int64_t here;
    uint64_t ticks;
    double tick_us;
} moment;

/* A call lies where it began. */
static void profile_waiting_place(const cco_arrival *call, double waited_us, const moment *now)
{
    const double ago = 1e-3 * (double)(now->here - call->arrival) / now->tick_us;
    const uint64_t at = now->ticks - (uint64_t)(ago > 0 ? ago : 0);
    const uint64_t waited = (uint64_t)(waited_us / now->tick_us);
    cco_timeline_add(&cco_timeline_here, CCO_BIN_SAMPLED, at, at + call->ticks);
    cco_timeline_add(&cco_timeline_here, CCO_BIN_WAITED, at,
                     at + (waited < call->ticks ? waited : call->ticks));
}

void cco_profile_evaluate(MPI_Comm comm, cco_rows *rows, int64_t from, bool placed)
{
    int clock;
    cco_clock_line line;
    const moment now = {cco_clock_here(), cco_ticks(), cco_profile_tick_us()};
    cco_arrival_sets sets = arrivals_since(from); /* before clocks are compared */
    cco_common_clock_compare(comm);
    const bool known = cco_common_clock(&line, &clock);
    if (known)
        cco_arrivals_merge(comm, &sets, &line, clock);
    for (int i = 0; known && now.tick_us > 0 && i < sets.count; i++) {
        const cco_arrival_set *set = &sets.list[i];
        for (int k = 0; k < set->count; k++) {
            const cco_arrival *call = &set->list[k];
            const double waited = 1e-3 * (double)call->waited;
            if (call->row < rows->count)
                cco_wait_sums_add(&rows->list[call->row].sampled, waited,
                                  now.tick_us * (double)call->ticks, 1e-3 * set->error);
            if (placed)
                profile_waiting_place(call, waited, &now);
        }
    }
    cco_arrival_sets_free(&sets);
}
