/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - CRESTA_Record_begin, CRESTA_Record_end, CRESTA_Replay_start, CRESTA_Replay_end,
 * CRESTA_Recording_info, CRESTA_Recording_free. */
#include "process/set_up.h"
#include "api/dispatch.h"
#include "process/progress.h"
#include "config/config.h"
#include "comm/failure.h"
#include "base/log.h"
#include "mpi/mpi_check.h"
#include "call/raise.h"
#include "mpi/ulfm.h"
#include "record/agreed.h"
#include "record/recorded.h"
#include "record/recording.h"
#include "record/replay_failure.h"

/* An error of a recording, or of none; its communicator may be no more. */
static int api_record_fail(const cco_replay *r, int error_class)
{
    return cco_refuse(r != NULL && r->state != NULL ? r->state->comm : MPI_COMM_WORLD, error_class);
}

/* Ends a replay in an error; a process may have failed. */
static int end_in_error(cco_replay *r, const char *where, int error)
{
    const int known = cco_replay_error(r);
    if (known == MPI_SUCCESS && cco_ulfm_class(error) == MPI_SUCCESS)
        return api_record_fail(r, error);
    if (r->state == NULL) {
        cco_replay_leave(r, cco_ulfm_failed_class());
        return api_record_fail(r, error);
    }
    if (known != MPI_SUCCESS)
        cco_comm_fail(r->state, known, r->lost);
    return cco_comm_raise_in(r->state, where, error);
}

int CRESTA_Record_begin(MPI_Comm comm)
{
    cco_process_enter();
    if (!cco_is_intra(comm))
        return cco_refuse(comm, MPI_ERR_COMM);
    cco_comm *state = cco_prepare(comm);
    if (state == NULL)
        return cco_refuse(comm, MPI_ERR_INTERN);
    if (state->failure.error != MPI_SUCCESS)
        return cco_comm_raise_in(state, "CRESTA_Record_begin", state->failure.error);
    if (cco_is_recorded(state)) {
        if (state->rank == 0)
            cco_say("CRESTA_Record_begin on communicator '%s': a recording is under way there",
                    state->name);
        return cco_refuse(comm, cco_comm_refuse(state, MPI_ERR_OTHER));
    }
    cco_recorder_begin(state);
    cco_process_wake();
    return MPI_SUCCESS;
}

int CRESTA_Record_end(CRESTA_Recording *recording)
{
    cco_recorder *recorder = cco_recorder_take();
    if (recording != NULL)
        *recording = CRESTA_RECORDING_NULL;
    if (recorder == NULL) {
        cco_say("CRESTA_Record_end: this thread has not begun a recording");
        return cco_refuse(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
    cco_comm *state = recorder->state;
    if (state == NULL) {
        cco_say("CRESTA_Record_end: the communicator was freed during the recording");
        cco_recorder_free(recorder);
        return cco_refuse(MPI_COMM_WORLD, MPI_ERR_COMM);
    }
    if (cco_configured.async == CCO_ASYNC_THREAD)
        cco_progress_start();
    int handle = 0, rc = cco_agreed(state, recording != NULL ? MPI_SUCCESS : MPI_ERR_ARG);
    if (rc == MPI_SUCCESS)
        rc = cco_agreed_calls(recorder);
    if (rc == MPI_SUCCESS)
        rc = cco_recording_make(recorder, &handle);
    cco_recorder_free(recorder);
    if (rc != MPI_SUCCESS)
        return state->failure.error != MPI_SUCCESS
                   ? cco_comm_raise_in(state, "CRESTA_Record_end", rc)
                   : cco_refuse(state->comm, rc);
    *recording = handle;
    return MPI_SUCCESS;
}

/* The recording of a handle; NULL, and the reason is reported, if there is none, or its replay is
 * not as the caller wants it. */
static cco_replay *replay_of(CRESTA_Recording recording, bool under_way, const char *caller)
{
    cco_replay *r = cco_recording_of(recording);
    if (r == NULL)
        cco_say("%s: %d is not the handle of a recording", caller, recording);
    else if (cco_replay_is_under_way(r) == under_way)
        return r;
    else
        cco_say("%s: %s replay of this recording is under way", caller, under_way ? "no" : "a");
    return NULL;
}

int CRESTA_Replay_start(CRESTA_Recording recording)
{
    cco_replay *r = replay_of(recording, false, "CRESTA_Replay_start");
    if (r == NULL)
        return api_record_fail(cco_recording_of(recording), MPI_ERR_REQUEST);
    const int rc = cco_replay_start(r);
    return rc == MPI_SUCCESS ? rc : end_in_error(r, "CRESTA_Replay_start", rc);
}

int CRESTA_Replay_end(CRESTA_Recording recording)
{
    bool told = false;
    cco_replay *r = replay_of(recording, true, "CRESTA_Replay_end");
    if (r == NULL)
        return api_record_fail(cco_recording_of(recording), MPI_ERR_REQUEST);
    const int rc = cco_replay_end(r, &told);
    return rc == MPI_SUCCESS || told ? rc : end_in_error(r, "CRESTA_Replay_end", rc);
}

static void api_record_set(int *to, int value)
{
    if (to != NULL)
        *to = value;
}

int CRESTA_Recording_info(CRESTA_Recording recording, int *calls, int *merged, int *parts,
                          int *recorded, int *replayed)
{
    const cco_replay *r = cco_recording_of(recording);
    int count = 0;
    if (r == NULL) {
        cco_say("CRESTA_Recording_info: %d is not the handle of a recording", recording);
        return api_record_fail(NULL, MPI_ERR_REQUEST);
    }
    for (int i = 0; i < r->count; i++)
        count += r->calls[i]->path != CCO_PATH_NONE;
    api_record_set(calls, r->count);
    api_record_set(merged, count);
    api_record_set(parts, r->parts_count);
    api_record_set(recorded, cco_recording_sends(r));
    api_record_set(replayed, cco_replay_sends(r));
    return MPI_SUCCESS;
}

int CRESTA_Recording_free(CRESTA_Recording *recording)
{
    const int handle = recording != NULL ? *recording : CRESTA_RECORDING_NULL;
    if (replay_of(handle, false, "CRESTA_Recording_free") == NULL)
        return api_record_fail(cco_recording_of(handle), MPI_ERR_REQUEST);
    cco_recording_free(handle);
    *recording = CRESTA_RECORDING_NULL;
    return MPI_SUCCESS;
}
