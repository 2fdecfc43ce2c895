/* SPDX-License-Identifier: BSD-3-Clause */
/* begin.c - see begin.h. */
#include "progress/begin.h"

#include "core/log.h"
#include "core/progress_thread.h"
#include "progress/operation_pool.h"
#include "progress/queue.h"

/* It is not under way and will not be.  If that is so on this rank alone, what comes behind it on
 * its stream set must not be taken for its data. */
static int give_up(cco_operation *o, int error)
{
    if (o->stream_set != NULL && error != MPI_ERR_UNSUPPORTED_OPERATION)
        __atomic_store_n(&o->stream_set->stream.broken, true, __ATOMIC_RELAXED);
    cco_operation_drop(o);
    cco_operation_transport_done(o);
    cco_operation_pool_return(o);
    return error;
}

int cco_operation_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_path path,
                        cco_copies *copies, MPI_Request *request)
{
    cco_operation *o = cco_operation_pool_take(state, path);
    if (o == NULL) {
        cco_copies_free(copies);
        return MPI_ERR_NO_MEM;
    }
    o->call = *call;
    o->copies = copies;
    o->rc = MPI_SUCCESS;
    o->starts = o->counted = true;
    int rc = cco_operation_make(o, state, way);
    if (rc == MPI_SUCCESS && o->stream_set == NULL)
        rc = cco_operation_start(o);
    if (rc != MPI_SUCCESS)
        return give_up(o, rc);
    if (cco_recording && !o->shares) /* what comes after sizes is not known yet */
        cco_between_add(&state->between, &o->plan->sends);
    if (cco_operation_request(o, request) != MPI_SUCCESS)
        cco_fatal("the MPI refuses a generalized request");
    const cco_progress_level kind = cco_operation_level(o);
    cco_queue_add(o);
    if (o->stream_set != NULL) /* no later than now if it can */
        cco_queue_progress(true);
    cco_progress_thread_count(1, kind);
    return MPI_SUCCESS;
}
