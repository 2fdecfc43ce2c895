/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder.c - see recorder.h. */
#include "record/recorder.h"

#include <stdlib.h>

#include "core/log.h"
#include "plan/arguments.h"
#include "record/recorded.h"

int cco_recorders;

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
    __atomic_fetch_add(&cco_recorders, 1, __ATOMIC_RELAXED);
    state->watched |= CCO_WATCHED_NOTES;
    cco_comm_update(state);
}

cco_recorder *cco_recorder_take(void)
{
    cco_recorder *r = last;
    if (r == NULL)
        return NULL;
    last = r->outer;
    __atomic_fetch_sub(&cco_recorders, 1, __ATOMIC_RELAXED);
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

void cco_recorder_fails(cco_comm *state)
{
    cco_recorder *r = recorder_of(state);
    if (r != NULL)
        recorder_fail(r, "has failed");
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
