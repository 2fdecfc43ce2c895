/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.c - see recorded.h.
 *
 * A call that a communicator remembers is recorded by a repeat around the model's own.  The MPI's
 * calls, of which no model remembers anything, have one as well: what is recorded of a call like
 * the last one need not be found again. */
#include "api/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "profile/common_clock.h"
#include "profile/profile_time.h"
#include "profile/snapshot.h"
#include "profile/timeline.h"
#include "native/calls.h"
#include "native/models.h"
#include "plan/call_cache.h"

/* A call that repeats, and what is recorded of it. */
typedef struct repeated {
    cco_repeat inner; /* the model's, or that of a call of the MPI; it has what that needs */
    cco_choice *choice;
    cco_profile_counter *record;
    cco_arrival_set *arrivals;
    MPI_Count bytes;
    cco_cached_call of_mpi;
} repeated;

typedef struct own {
    repeated *calls[CCO_REPEATS]; /* made when first needed */
} own;

static const char own_key; /* its address is the key */

static inline cco_profile_counter *record_of(cco_choice *choice, cco_mode mode, MPI_Count bytes)
{
    const int k = cco_size_class(bytes);
    cco_profile_counter *records = choice->records[mode];
    return records != NULL ? &records[k] : cco_profile_record_slow(choice, mode, k);
}

/* What the call has sent to other nodes, if it ran as a schedule of ours. */
static inline void count_between(cco_profile_counter *record, cco_comm *state)
{
    if (state->nodes.count <= 1)
        return;
    if (record != NULL)
        cco_internode_traffic_add(&record->between, &state->records.between);
    state->records.between = (cco_internode_traffic){0};
}

/* A call that was timed: counted, and where in the run its time lies.  So does the time of those
 * before it that were not. */
static inline void api_recorded_count(cco_profile_counter *record, cco_coll coll, MPI_Count bytes,
                                      uint64_t start, uint64_t end)
{
    if (record != NULL) {
        record->bytes += bytes > 0 ? (uint64_t)bytes : 0;
        const uint64_t before = cco_profile_time(record, start, end);
        if (before > 0)
            cco_timeline_add(&cco_timeline_here, (int)coll, start - before, start);
    }
    cco_timeline_add(&cco_timeline_here, (int)coll, start, end);
}

/* Where the waiting of calls is evaluated from (profile/arrivals.h), NULL if memory runs out. */
static inline cco_arrival_set *arrivals_of(cco_comm *state, cco_coll coll)
{
    cco_arrival_set *sets = state->records.arrivals != NULL ? state->records.arrivals
                                                            : cco_arrivals_of(state);
    return sets != NULL ? &sets[coll] : NULL;
}

static void note_arrival(cco_comm *state, cco_choice *choice, cco_coll coll, MPI_Count bytes,
                         cco_profile_counter *record, cco_arrival taken)
{
    if (record != NULL && record->row == 0)
        record->row = cco_profile_row(state, coll, choice, CCO_BLOCKING, cco_size_class(bytes));
    if (record == NULL || record->row < 0)
        return;
    taken.row = record->row - 1;
    cco_arrivals_add(&state->records.arrivals[coll], &taken);
}

/* The time now, if the waiting of a call is to be evaluated; else 0. */
static inline int64_t api_recorded_arrives(const cco_arrival_set *arrivals, uint64_t number)
{
    return arrivals != NULL && cco_arrivals_want(arrivals, number) ? cco_clock_here() : 0;
}

/* What comes after a call. */
static inline void record_call(cco_comm *state, const repeated *what, cco_coll coll,
                               int64_t arrival, uint64_t number, uint64_t start)
{
    if (!cco_profile_active)
        return;
    const uint64_t end = cco_ticks();
    api_recorded_count(what->record, coll, what->bytes, start, end);
    count_between(what->record, state);
    if (arrival != 0)
        note_arrival(state, what->choice, coll, what->bytes, what->record,
                     (cco_arrival){arrival, end - start, {number}, 0});
    if (end >= cco_snapshot_due)
        cco_snapshot_write();
}

__attribute__((noinline)) static int run_timed(const repeated *what, uint64_t number,
                                               const void *sendbuf, void *recvbuf,
                                               const cco_call *call)
{
    cco_comm *state = what->inner.state;
    const cco_coll coll = what->inner.cached->call.coll;
    const int64_t arrival = api_recorded_arrives(what->arrivals, number);
    const uint64_t start = cco_ticks();
    const int rc = what->inner.run(&what->inner, sendbuf, recvbuf, call);
    record_call(state, what, coll, arrival, number, start);
    return rc;
}

static int api_recorded_run_again(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                                  const cco_call *call)
{
    const repeated *what = again->own;
    cco_profile_counter *record = what->record;
    const uint64_t number = what->arrivals->calls++;
    const uint32_t hash = cco_arrivals_hash(what->arrivals, number);
    if (cco_profile_times(record, hash) || hash < what->arrivals->below || !cco_profile_active)
        return run_timed(what, number, sendbuf, recvbuf, call);
    record->calls++;
    record->bytes += (uint64_t)what->bytes;
    return what->inner.run(&what->inner, sendbuf, recvbuf, call);
}

/* A call of the MPI. */
static int run_of_mpi(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                      const cco_call *call)
{
    cco_call whole = call != NULL ? *call : again->cached->call;
    whole.sendbuf = sendbuf;
    whole.recvbuf = recvbuf;
    return cco_model_mpi.run(again->state, &again->cached->way, &whole);
}

/* Whether arguments like these, which the MPI took, always mean the same to it; also by which of
 * its names the call comes. */
static bool of_mpi_lasts(const cco_comm *state, const cco_choice *choice, const cco_call *call)
{
    return choice->way.model == &cco_model_mpi && cco_comm_may_repeat(state, call->coll) &&
           memcmp(&cco_native[CCO_CALLER_MPI], &cco_native[CCO_CALLER_CRESTA],
                  sizeof(cco_natives)) == 0 &&
           cco_call_lasts(state, call);
}

static cco_repeat repeat_of_mpi(repeated *what, cco_comm *state, const cco_call *call)
{
    cco_cached_call_write_arguments(&what->of_mpi, state->rank, call);
    return (cco_repeat){&what->of_mpi, NULL, run_of_mpi, state};
}

static void api_recorded_release(void *data)
{
    own *o = data;
    for (int i = 0; i < CCO_REPEATS; i++)
        free(o->calls[i]);
    free(o);
}

static repeated *repeated_at(cco_comm *state, int index)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o == NULL)
        o = cco_comm_attach(state, &own_key, sizeof *o, api_recorded_release);
    if (o->calls[index] == NULL)
        o->calls[index] = calloc(1, sizeof *o->calls[index]);
    return o->calls[index];
}

/* A call has been made: if its model will repeat it, or the MPI can, that is recorded.  What was
 * repeated here before is another call, in whose place its model may remember this one. */
static void repeat_recorded(cco_comm *state, const cco_call *call, int rc, const repeated *by)
{
    const int index = cco_cached_call_index(call);
    cco_repeat *repeat = &state->repeats[index];
    const bool found = repeat->cached != NULL && repeat->cached->marked != api_recorded_run_again;
    const bool can = by->record != NULL && by->arrivals != NULL && state->nodes.count <= 1 &&
                     (found || (rc == MPI_SUCCESS && of_mpi_lasts(state, by->choice, call)));
    repeated *what = can ? repeated_at(state, index) : NULL;
    if (what == NULL) {
        *repeat = (cco_repeat){0};
        return;
    }
    what->inner = found ? *repeat : repeat_of_mpi(what, state, call);
    if (found)
        what->inner.run = repeat->cached->marked;
    what->choice = by->choice;
    what->record = by->record;
    what->arrivals = by->arrivals;
    what->bytes = by->bytes > 0 ? by->bytes : 0;
    *repeat = cco_cached_call_repeat_by(what->inner.cached, what, api_recorded_run_again, state);
}

int cco_run_recorded(cco_comm *state, cco_choice *choice, const cco_call *call, MPI_Count bytes)
{
    const repeated what = {.choice = choice,
                           .record = record_of(choice, CCO_BLOCKING, bytes),
                           .arrivals = arrivals_of(state, call->coll),
                           .bytes = bytes};
    const uint64_t number = what.arrivals != NULL ? what.arrivals->calls++ : 0;
    const int64_t arrival = api_recorded_arrives(what.arrivals, number);
    const uint64_t start = cco_ticks();
    const int rc = choice->way.model->run(state, &choice->way, call);
    record_call(state, &what, call->coll, arrival, number, start);
    repeat_recorded(state, call, rc, &what);
    return rc;
}

/* The record of a call that goes to the MPI as it is; made without communication. */
static cco_profile_counter *native_record(cco_comm *state, cco_mode mode, cco_coll coll,
                                          MPI_Count bytes)
{
    if (state->records.native == NULL) {
        state->records.native = calloc(CCO_COLLECTIVES, sizeof *state->records.native);
        for (int i = 0; state->records.native != NULL && i < CCO_COLLECTIVES; i++)
            state->records.native[i].impl = "mpi", state->records.native[i].why = "";
    }
    return state->records.native != NULL ? record_of(&state->records.native[coll], mode, bytes)
                                         : NULL;
}

void cco_profile_count_native(cco_comm *state, cco_mode mode, cco_coll coll, MPI_Count bytes,
                              uint64_t start, uint64_t end)
{
    cco_profile_counter *record = native_record(state, mode, coll, bytes);
    api_recorded_count(record, coll, bytes, start, end);
    if (mode != CCO_BLOCKING)
        count_between(record, state);
}
