/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - see replay.h.  Replays under way are a list that belongs to the thread that polls;
 * those that start are pushed on a stack in front of it, as in progress/queue.c. */
#include "record/replay.h"

#include "base/pause.h"
#include "wait/progress_thread.h"
#include "plan/bound.h"
#include "progress/queue.h"
#include "record/recorded.h"
#include "record/replay_failure.h"

static cco_replay *started; /* stack */
static cco_replay *running; /* list */

static void replay_set_phase(cco_replay *r, cco_replay_phase phase)
{
    __atomic_store_n(&r->phase, (int)phase, __ATOMIC_RELEASE);
}

/* Data that lie with gaps are packed before their plan, and unpacked after it. */
static int replay_pack(cco_replay *r, const cco_replay_part *part, bool back)
{
    int rc = MPI_SUCCESS;
    for (int i = part->first; i < part->end && rc == MPI_SUCCESS; i++) {
        const cco_bound *bound = &r->calls[i]->bound;
        rc = back ? cco_bound_unpack(bound) : cco_bound_pack(bound);
    }
    return rc;
}

/* All ranks count the starts of all plans of a recording. */
static int start_part(cco_replay *r)
{
    cco_replay_part *part = &r->parts[r->at];
    const cco_scheduled *over = &r->over[part->path];
    const cco_transport *transport = over->plans.transport;
    int rc = transport->call != NULL ? transport->call(over->plans.shared) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_give_up(over, replay_pack(r, part, false));
    return rc == MPI_SUCCESS ? cco_engine_start(part->engine, &part->binding) : rc;
}

/* Goes on with the parts from `at` on: starts a plan, or comes to the end, to a call, to an error.
 */
static cco_replay_phase replay_go_on(cco_replay *r)
{
    if (r->rc != MPI_SUCCESS || r->at == r->parts_count)
        return CCO_REPLAY_DONE;
    if (r->parts[r->at].path == CCO_PATH_NONE)
        return CCO_REPLAY_CALLS;
    r->rc = start_part(r);
    return r->rc == MPI_SUCCESS ? CCO_REPLAY_RUNNING : CCO_REPLAY_DONE;
}

/* Moves a plan; true if a round ended. */
static bool replay_move(cco_replay *r, bool calls_mpi, cco_replay_phase *phase)
{
    const cco_replay_part *part = &r->parts[r->at];
    const int at = cco_engine_at(part->engine);
    bool done = false;
    r->rc = cco_engine_test(part->engine, &done);
    const bool moved = cco_engine_at(part->engine) != at;
    if (r->rc == MPI_SUCCESS && !done)
        r->rc = cco_replay_look_around(r, moved, calls_mpi);
    if (r->rc == MPI_SUCCESS && done)
        r->rc = replay_pack(r, part, true);
    if (r->rc != MPI_SUCCESS || done) {
        const cco_unlike *unlike = r->over[part->path].unlike;
        if (r->rc != MPI_SUCCESS && unlike != NULL && (unlike->met || unlike->heard))
            cco_replay_lose(r, r->rc, -1);
        r->at += done;
        *phase = replay_go_on(r);
        if (calls_mpi && r->rc != MPI_SUCCESS)
            cco_replay_stopped(r);
        return true;
    }
    return moved;
}

static void replay_push(cco_replay *r)
{
    cco_progress_thread_count(1, r->level);
    cco_queue_count_also(1);
    r->next = __atomic_load_n(&started, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&started, &r->next, r, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static void replay_adopt(void)
{
    cco_replay *stack = __atomic_load_n(&started, __ATOMIC_RELAXED) != NULL
                            ? __atomic_exchange_n(&started, NULL, __ATOMIC_ACQUIRE)
                            : NULL;
    while (stack != NULL) {
        cco_replay *r = stack;
        stack = r->next;
        r->next = running;
        running = r;
    }
}

/* By the one thread that polls.  What it sets last lets the program go on with the replay. */
static bool replay_poll_all(bool calls_mpi)
{
    bool moved = false;
    replay_adopt();
    for (cco_replay **link = &running; *link != NULL;) {
        cco_replay *r = *link;
        cco_replay_phase phase = CCO_REPLAY_RUNNING;
        if (calls_mpi || r->level < CCO_PROGRESS_MPI)
            moved = replay_move(r, calls_mpi, &phase) || moved;
        if (phase == CCO_REPLAY_RUNNING) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        cco_progress_thread_count(-1, r->level);
        cco_queue_count_also(-1);
        replay_set_phase(r, phase);
    }
    return moved;
}

/* From where it is: what runs by itself, goes into the list.  MPI_SUCCESS, or the error that it has
 * come to at once. */
static int replay_resume(cco_replay *r)
{
    const cco_replay_phase phase = replay_go_on(r);
    const int rc = r->rc;
    replay_set_phase(r, phase);
    if (phase == CCO_REPLAY_RUNNING)
        replay_push(r);
    return rc;
}

int cco_replay_start(cco_replay *r)
{
    cco_queue_also(CCO_QUEUE_REPLAYS, replay_poll_all);
    r->at = r->idle = 0;
    r->rc = cco_replay_error(r);
    const int rc = replay_resume(r);
    if (rc != MPI_SUCCESS)
        replay_set_phase(r, CCO_REPLAY_IDLE);
    return rc;
}

static bool is_at_call(const cco_replay *r)
{
    return r->at < r->parts_count && r->parts[r->at].path == CCO_PATH_NONE;
}

/* The calls that come next, up to a plan.  Their error handler may not come back: then no replay is
 * under way any more. */
static void make_calls(cco_replay *r, bool *told)
{
    replay_set_phase(r, CCO_REPLAY_IDLE);
    while (r->rc == MPI_SUCCESS && is_at_call(r)) {
        cco_recorded *call = r->calls[r->parts[r->at].first];
        if (r->state == NULL) {
            r->rc = MPI_ERR_COMM;
            break;
        }
        r->at++;
        r->rc = call->way.model->run(r->state, &call->way, &call->call);
        *told = r->rc != MPI_SUCCESS;
    }
    replay_resume(r);
}

int cco_replay_end(cco_replay *r, bool *told)
{
    const int first = r->level == CCO_PROGRESS_MEMORY ? CCO_PAUSE_MEMORY : 0;
    int phase, tries = first;
    while ((phase = __atomic_load_n(&r->phase, __ATOMIC_ACQUIRE)) != CCO_REPLAY_DONE) {
        if (phase == CCO_REPLAY_CALLS)
            make_calls(r, told);
        else if (cco_queue_progress(true))
            tries = first;
        else
            cco_pause(&tries);
        cco_progress_thread_spare();
    }
    cco_progress_thread_wait_outside_mpi();
    replay_set_phase(r, CCO_REPLAY_IDLE);
    return r->rc;
}
