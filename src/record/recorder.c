/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder.c - see recorder.h. */
#include "record/recorder.h"

#include <stdlib.h>

#include "base/log.h"
#include "observe/observe.h"
#include "plan/arguments.h"
#include "record/recorded.h"

static _Thread_local cco_recorder *last;
static _Thread_local int copies; /* of the program's buffers in the call that this thread makes */
static const char key;           /* its address is the key */

/* The communicator is freed: the program will still end the recording. */
static void recorder_release(void *data)
{
    cco_recorder **kept = data;
    if (*kept != NULL)
        (*kept)->state = NULL;
    free(kept);
}

static cco_recorder *recorder_of(const cco_comm *state)
{
    cco_recorder **kept = cco_comm_attached(state, &key);
    return kept != NULL ? *kept : NULL;
}

void cco_recorder_begin(cco_comm *state)
{
    cco_recorder **kept = cco_comm_attached(state, &key);
    if (kept == NULL)
        kept = cco_comm_attach(state, &key, sizeof *kept, recorder_release);
    cco_recorder *r = calloc(1, sizeof *r);
    if (r == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for a recording on communicator '%s'", state->name);
    copies = 0; /* an error handler may have left a call */
    r->state = state;
    r->outer = last;
    *kept = last = r;
    cco_observe_switch(&cco_observer_recorder, 1);
    state->watched |= CCO_WATCHED_NOTES;
    cco_comm_update(state);
}

cco_recorder *cco_recorder_take(void)
{
    cco_recorder *r = last;
    if (r == NULL)
        return NULL;
    last = r->outer;
    cco_observe_switch(&cco_observer_recorder, -1);
    if (r->state == NULL)
        return r;
    cco_recorder **kept = cco_comm_attached(r->state, &key);
    *kept = NULL;
    r->state->watched &= ~(unsigned)CCO_WATCHED_NOTES;
    cco_comm_update(r->state);
    return r;
}

void cco_recorder_free(cco_recorder *r)
{
    for (int i = 0; i < r->count; i++)
        cco_recorded_free(r->calls[i]);
    free(r->calls);
    free(r);
}

static bool recorder_make_room(cco_recorder *r)
{
    if (r->count < r->room)
        return true;
    const int room = r->room > 0 ? 2 * r->room : 16;
    cco_recorded **larger = realloc(r->calls, (size_t)room * sizeof(*larger));
    if (larger == NULL)
        return false;
    r->calls = larger;
    r->room = room;
    return true;
}

static void recorder_fail(cco_recorder *r, const char *why)
{
    if (r->failed == NULL)
        r->failed = why;
}

void cco_recorder_passes_copies(int change)
{
    copies += change;
}

void cco_recorder_note(cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_recorder *r = recorder_of(state);
    if (r == NULL)
        return;
    if (!cco_arguments_valid(state, call)) {
        recorder_fail(r, "has wrong arguments");
        return;
    }
    if (copies > 0) {
        recorder_fail(r, "has an array section with gaps as a buffer");
        return;
    }
    cco_recorded *made = recorder_make_room(r) ? cco_recorded_new(state, way, call) : NULL;
    if (made != NULL)
        r->calls[r->count++] = made;
    else
        recorder_fail(r, "cannot be recorded: there is no memory");
}

void cco_recorder_ended(cco_comm *state, int rc)
{
    cco_recorder *r = recorder_of(state);
    if (r == NULL || r->failed != NULL || r->count == 0)
        return;
    if (rc == MPI_SUCCESS)
        r->calls[r->count - 1]->succeeded = true;
    else
        recorder_fail(r, "has failed");
}

static void *recorder_chosen(cco_comm *state, const cco_choice *choice, const cco_call *call,
                             MPI_Count bytes)
{
    (void)bytes;
    cco_recorder_note(state, &choice->way, call);
    return state;
}

static void recorder_after(cco_comm *state, const cco_call *call, void *kept, int rc)
{
    cco_recorder *r = recorder_of(state);
    (void)call;
    if (kept != NULL)
        cco_recorder_ended(state, rc);
    else if (r != NULL) /* it did not run */
        recorder_fail(r, "has failed");
}

static bool recorder_refuses(const cco_comm *state, const char *call)
{
    if (state->rank == 0)
        cco_say("%s on communicator '%s': only blocking collectives can be recorded, and a "
                "recording is under way there",
                call, state->name);
    return true;
}

const cco_observer cco_observer_recorder = {
    .chosen = recorder_chosen, .after = recorder_after, .refuses = recorder_refuses};
