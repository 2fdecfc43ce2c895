/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.c - see recording.h. */
#include "record/recording.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/failure.h"
#include "base/log.h"
#include "record/agreed.h"
#include "record/paths.h"
#include "record/recorded.h"
#include "record/rehearse.h"
#include "record/replay_failure.h"
#include "sched/merge.h"

enum { RECORDINGS = 4096, LINE = 64 };

/* For handles, and for communicators that are freed.  Only at the two ends of a recording's life.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cco_replay *table[RECORDINGS];

static const char key; /* its address is the key */

/* The communicator is freed. */
static void recording_release(void *data)
{
    cco_replay **list = data;
    pthread_mutex_lock(&lock);
    for (cco_replay *r = *list; r != NULL; r = r->beside) {
        cco_watch_forget(&r->program);
        r->state = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(list);
}

/* A process of the communicator has failed. */
static void recording_leave(void *data, int error)
{
    cco_replay **list = data;
    pthread_mutex_lock(&lock);
    for (cco_replay *r = *list; r != NULL; r = r->beside)
        cco_replay_leave(r, error);
    pthread_mutex_unlock(&lock);
}

static void link_to_comm(cco_replay *r)
{
    cco_replay **list = cco_comm_attached(r->state, &key);
    if (list == NULL) {
        list = cco_comm_attach(r->state, &key, sizeof *list, recording_release);
        cco_comm_on_failure(r->state, recording_leave, list);
    }
    pthread_mutex_lock(&lock);
    r->beside = *list;
    *list = r;
    pthread_mutex_unlock(&lock);
}

/* With the lock. */
static void unlink_from_comm(cco_replay *r)
{
    cco_replay **link = r->state != NULL ? cco_comm_attached(r->state, &key) : NULL;
    while (link != NULL && *link != r)
        link = &(*link)->beside;
    if (link != NULL)
        *link = r->beside;
}

static void free_replay(cco_replay *r)
{
    if (r == NULL)
        return;
    for (int i = 0; i < r->parts_count; i++) {
        cco_engine_free(r->parts[i].engine);
        free(r->parts[i].scratch);
    }
    cco_replay_paths_close(r);
    for (int i = 0; i < r->count; i++)
        cco_recorded_free(r->calls[i]);
    free(r->calls);
    free(r->parts);
    free(r->operations);
    free(r);
}

/* Calls that do not depend on each other, and run over one path, are a part; others are one each.
 */
static void recording_divide(cco_replay *r, const int *before)
{
    cco_replay_part *part = NULL;
    for (int i = 0; i < r->count; i++) {
        const cco_path path = r->calls[i]->path;
        if (part == NULL || path == CCO_PATH_NONE || part->path != path ||
            before[i] >= part->first) {
            part = &r->parts[r->parts_count++];
            *part = (cco_replay_part){.first = i, .path = path};
        }
        part->end = i + 1;
    }
}

static cco_replay *new_replay(cco_recorder *recorder)
{
    const size_t n = (size_t)recorder->count + 1;
    cco_comm *state = recorder->state;
    cco_replay *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->state = state;
    r->rank = state->rank;
    r->size = state->size;
    r->channel.comm = MPI_COMM_NULL;
    r->calls = recorder->calls;
    r->count = recorder->count;
    r->level = CCO_PROGRESS_MEMORY;
    recorder->calls = NULL;
    recorder->count = 0;
    r->parts = calloc(n, sizeof *r->parts);
    r->operations = calloc(n, sizeof *r->operations);
    return r;
}

/* Each step is taken for all calls, and then the ranks agree: one that has no memory must not leave
 * the others waiting in the next. */
static int bind_calls(cco_replay *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->count && rc == MPI_SUCCESS; i++)
        if (r->calls[i]->path != CCO_PATH_NONE)
            rc = cco_recorded_bind(r->calls[i], r->state);
    return cco_agreed(r->state, rc);
}

/* The counts that an algorithm asks for, which do not change any more. */
static int recording_share_counts(cco_replay *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->count && rc == MPI_SUCCESS; i++) {
        cco_recorded *c = r->calls[i];
        if (c->path != CCO_PATH_NONE && cco_algo_shares(c->algo, c->call.coll))
            rc = cco_replay_paths_share(r, c);
    }
    if (rc != MPI_SUCCESS)
        cco_replay_has_failed(r, rc);
    return cco_agreed(r->state, rc);
}

static int build_calls(cco_replay *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->count && rc == MPI_SUCCESS; i++)
        if (r->calls[i]->path != CCO_PATH_NONE) {
            rc = cco_recorded_build(r->calls[i]);
            r->operations[i] = r->calls[i]->operation;
            if (r->calls[i]->bound.packs_in || r->calls[i]->bound.packs_out)
                r->level = CCO_PROGRESS_MPI;
        }
    return cco_agreed(r->state, rc);
}

static int rehearse_calls(cco_replay *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->count && rc == MPI_SUCCESS; i++) {
        cco_recorded *c = r->calls[i];
        const int tag = c->path != CCO_PATH_NONE ? cco_channel_call(&r->channel) : 0;
        if (c->path != CCO_PATH_NONE)
            rc = cco_rehearse(&c->levels, c->sched, &r->channel, &r->peers, tag);
        if (rc != MPI_SUCCESS && rc != MPI_ERR_TRUNCATE && !cco_replay_has_failed(r, rc))
            cco_fatal("a recording on communicator '%s' cannot be planned: %s", r->state->name,
                      rc == MPI_ERR_NO_MEM ? "no memory" : "the MPI's messages fail");
    }
    return cco_agreed(r->state, rc);
}

/* Where base CCO_OUT of plans is: anywhere.  The buffers of the calls are relative to it. */
static char *anchor_of(cco_replay *r)
{
    return (char *)r;
}

static cco_sched *merge_part(cco_replay *r, const cco_replay_part *part)
{
    const cco_problem q = {
        .rank = r->rank, .size = r->size, .unit = 1, .layouts = part->binding.layouts};
    const int count = part->end - part->first;
    cco_merge_part *list = calloc((size_t)count, sizeof *list);
    for (int i = 0; list != NULL && i < count; i++) {
        const cco_recorded *c = r->calls[part->first + i];
        list[i] = (cco_merge_part){
            .sched = c->sched, .levels = c->levels.of, .operation = part->first + i + 1};
        for (int base = 0; base < CCO_TMP; base++)
            list[i].at[base] = (ptrdiff_t)((uintptr_t)c->bound.binding.base[base] -
                                           (uintptr_t)anchor_of(r));
    }
    cco_sched *s = list != NULL ? cco_merge(list, count, &q) : NULL;
    free(list);
    return s;
}

static int plan_part(cco_replay *r, cco_replay_part *part)
{
    const cco_scheduled *over = &r->over[part->path];
    for (int base = 0; base < CCO_BASES; base++)
        part->binding.layouts[base] = cco_layout_of_bytes;
    part->binding.base[CCO_OUT] = anchor_of(r);
    part->binding.operations = r->operations;
    cco_sched *s = merge_part(r, part);
    int rc = s != NULL ? cco_sched_error(s) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS) {
        part->sends = cco_sched_sends(s);
        part->scratch = aligned_alloc(LINE, s->scratch + LINE);
        part->binding.base[CCO_TMP] = part->scratch;
        part->engine = cco_engine_new(s, over->plans.transport, over->plans.shared);
        rc = part->engine != NULL && part->scratch != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    cco_sched_free(s);
    return rc;
}

static int plan_parts(cco_replay *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->parts_count && rc == MPI_SUCCESS; i++)
        if (r->parts[i].path != CCO_PATH_NONE)
            rc = plan_part(r, &r->parts[i]);
    return cco_agreed(r->state, rc);
}

static int make_plans(cco_replay *r)
{
    int rc = bind_calls(r);
    if (rc == MPI_SUCCESS)
        rc = recording_share_counts(r);
    if (rc == MPI_SUCCESS)
        rc = build_calls(r);
    if (rc == MPI_SUCCESS)
        rc = rehearse_calls(r);
    return rc == MPI_SUCCESS ? plan_parts(r) : rc;
}

/* Which calls are not merged, and why. */
static void recording_report(const cco_replay *r)
{
    int merged = 0;
    if (r->rank != 0)
        return;
    for (int i = 0; i < r->count; i++)
        merged += r->calls[i]->path != CCO_PATH_NONE;
    cco_log(CCO_LOG_INFO,
            "recording on communicator '%s': %d of %d calls merged, in %d parts; rank 0 sends %d "
            "messages instead of %d",
            r->state->name, merged, r->count, r->parts_count, cco_replay_sends(r),
            cco_recording_sends(r));
    for (int i = 0; i < r->count; i++)
        if (r->calls[i]->path == CCO_PATH_NONE)
            cco_log(CCO_LOG_INFO,
                    "recording on communicator '%s': call %d, %s by %s, is replayed as it is: %s",
                    r->state->name, i + 1, cco_coll_infos[r->calls[i]->call.coll].name,
                    r->calls[i]->way.model->name, r->calls[i]->why);
}

/* A handle; 0 if there are none left. */
static int recording_enter(cco_replay *r)
{
    int handle = 0;
    pthread_mutex_lock(&lock);
    while (handle < RECORDINGS && table[handle] != NULL)
        handle++;
    if (handle < RECORDINGS)
        __atomic_store_n(&table[handle], r, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return handle < RECORDINGS ? handle + 1 : 0;
}

/* Where CRESTA_FALLBACK forbids an algorithm, it has been said. */
static void recording_say_failure(const cco_comm *state, int rc)
{
    if (state->rank == 0 && rc != MPI_ERR_UNSUPPORTED_OPERATION)
        cco_say("CRESTA_Record_end on communicator '%s': no plan is made: %s", state->name,
                rc == MPI_ERR_TRUNCATE ? "ranks recorded other sizes for the data between them"
                                       : "some rank has no memory, or the MPI has failed");
}

int cco_recording_make(cco_recorder *recorder, int *handle)
{
    cco_comm *state = recorder->state;
    int *before = malloc(((size_t)recorder->count + 1) * sizeof *before);
    int rc = cco_agreed(state, before != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    if (rc == MPI_SUCCESS)
        rc = cco_agreed_parts(recorder, before);
    cco_replay *r = rc == MPI_SUCCESS ? new_replay(recorder) : NULL;
    const bool there = r != NULL && r->parts != NULL && r->operations != NULL;
    if (rc == MPI_SUCCESS)
        rc = cco_agreed(state, there ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    if (rc == MPI_SUCCESS) {
        cco_replay_paths_open(r);
        recording_divide(r, before);
        rc = make_plans(r);
    }
    free(before);
    *handle = rc == MPI_SUCCESS ? recording_enter(r) : 0;
    rc = cco_agreed(state, rc == MPI_SUCCESS && *handle == 0 ? MPI_ERR_NO_MEM : rc);
    if (rc == MPI_SUCCESS) {
        cco_replay_made(r);
        link_to_comm(r);
        recording_report(r);
        return rc;
    }
    if (*handle != 0)
        __atomic_store_n(&table[*handle - 1], NULL, __ATOMIC_RELEASE);
    *handle = 0;
    free_replay(r);
    if (state->failure.error != MPI_SUCCESS)
        return state->failure.error;
    recording_say_failure(state, rc);
    return cco_comm_refuse(state, rc);
}

cco_replay *cco_recording_of(int handle)
{
    return handle > 0 && handle <= RECORDINGS
               ? __atomic_load_n(&table[handle - 1], __ATOMIC_ACQUIRE)
               : NULL;
}

int cco_recording_sends(const cco_replay *r)
{
    int sends = 0;
    for (int i = 0; i < r->count; i++)
        sends += r->calls[i]->path != CCO_PATH_NONE ? cco_sched_sends(r->calls[i]->sched) : 0;
    return sends;
}

int cco_replay_sends(const cco_replay *r)
{
    int sends = 0;
    for (int i = 0; i < r->parts_count; i++)
        sends += r->parts[i].sends;
    return sends;
}

void cco_recording_free(int handle)
{
    cco_replay *r = cco_recording_of(handle);
    pthread_mutex_lock(&lock);
    unlink_from_comm(r);
    __atomic_store_n(&table[handle - 1], NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    free_replay(r);
}

/* A replay that the program has not ended stays: what waits in MPI_Finalize still moves it. */
void cco_recordings_end(void)
{
    for (int handle = 1; handle <= RECORDINGS; handle++) {
        const cco_replay *r = cco_recording_of(handle);
        if (r != NULL && cco_replay_is_under_way(r))
            cco_log(CCO_LOG_WARN, "MPI_Finalize comes before the CRESTA_Replay_end of a replay");
        else if (r != NULL)
            cco_recording_free(handle);
    }
}
