/* SPDX-License-Identifier: BSD-3-Clause */
/* begin.c - see begin.h. */
#include "progress/begin.h"

#include "wait/progress_thread.h"
#include "progress/operation_pool.h"
#include "progress/queue.h"

/* It is not under way and will not be. */
static int begin_give_up(cco_operation *o, int error)
{
    cco_operation_drop(o);
    cco_operation_transport_done(o);
    cco_operation_pool_return(o);
    return error;
}

/* The messages that the kernel copies. */
static cco_shown_rule begin_shown(const cco_comm *state, cco_path path)
{
    if (path == CCO_PATH_SHM_AUTO)
        return cco_shown_pays(state->facts.crowded);
    return path == CCO_PATH_SHM_COPY_ONCE ? CCO_SHOWN_ALL : (cco_shown_rule){0};
}

int cco_operation_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        cco_copies *copies, cco_ending ending, MPI_Request *request)
{
    cco_operation *o;
    int rc = cco_operation_pool_take(state, path, &o);
    if (rc != MPI_SUCCESS) {
        cco_copies_free(copies);
        return rc;
    }
    o->call = *call;
    o->copies = copies;
    o->ending = ending;
    o->shows = begin_shown(state, path);
    o->rc = MPI_SUCCESS;
    o->starts = o->counted = true;
    o->ended = false;
    rc = cco_operation_make(o, state, way);
    if (rc == MPI_SUCCESS && o->stream_set == NULL)
        rc = cco_operation_start(o);
    if (rc != MPI_SUCCESS)
        return begin_give_up(o, rc);
    if (cco_profile_active && !o->shares) /* what comes after sizes is not known yet */
        cco_internode_traffic_add(&state->records.between, &o->plan->sends);
    cco_operation_request(o, request);
    if (cco_coll_streams(call->coll))
        cco_partial_request_add(&o->streamed, *request, o, o->bound.out.blocks);
    const cco_progress_level kind = o->level;
    cco_queue_add(o);
    if (o->stream_set != NULL) /* no later than now if it can */
        cco_queue_progress(true);
    cco_progress_thread_count(1, kind);
    return MPI_SUCCESS;
}
