/* SPDX-License-Identifier: BSD-3-Clause */
/* model "persist": the MPI's persistent collective (MPI 4.0, section 6.13), kept on the
 * communicator and started again.
 *
 * What is kept is bound to staging buffers of ours and found by what all ranks know: a cache keyed
 * by the caller's addresses or datatypes could hit on one rank and miss on another, which would
 * deadlock.  What cannot be keyed so (uneven vectors, derived types in reductions, user-defined
 * operations, large messages) is made for the one call, started, waited for and freed. */
#include <stdlib.h>

#include "core/ask.h"
#include "core/comm.h"
#include "core/data.h"
#include "core/failure.h"
#include "core/mpi_compat.h"
#include "native/calls.h"
#include "native/defects.h"
#include "native/empty.h"
#include "native/models.h"
#include "native/staging.h"
#include "native/watched_wait.h"

static int start_once(cco_comm *state, const cco_call *call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = cco_native_persistent(&cco_native[CCO_BY_US], call, MPI_INFO_NULL, &request);
    /* MPICH 5 answers success, and makes no request, when a user's handler was told an error. */
    if (rc != MPI_SUCCESS || request == MPI_REQUEST_NULL)
        return rc;
    rc = PMPI_Start(&request);
    if (rc == MPI_SUCCESS)
        rc = cco_wait_watched(state, &request);
    if (state->error == MPI_SUCCESS) /* otherwise it may be active for ever */
        PMPI_Request_free(&request);
    return rc;
}

static int run_once(const cco_call *call, cco_comm *state)
{
    cco_call ours = *call;
    void *memory;
    cco_drop_empty(&ours, cco_comm_blocks(state, call->coll), state->rank == call->root, &memory);
    const bool holds = cco_native_holds(&ours);
    if (holds)
        cco_progress_thread_hold_call(true);
    const int rc = start_once(state, &ours);
    if (holds)
        cco_progress_thread_hold_call(false);
    free(memory);
    return cco_watched_end(state, call->coll, rc);
}

static int run_kept(cco_staged *kept, const cco_call *call, cco_comm *state)
{
    int rc = cco_staged_fill(kept, call, state);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Start(&kept->request);
    if (rc == MPI_SUCCESS)
        rc = cco_wait_watched(state, &kept->request);
    if (rc == MPI_SUCCESS)
        rc = cco_staged_drain(kept, call, state);
    return rc;
}

/* A null buffer of a predefined type, where the MPI refuses it. */
static bool is_null(const void *buffer, MPI_Datatype type, MPI_Count count)
{
    return CCO_NULL_BUFFERS_REFUSED && buffer == NULL && count > 0 && cco_type_predefined(type);
}

/* A type of the program that the MPI does not take.  Only the root packs the data of a bcast: the
 * others would wait for it. */
static bool refused(MPI_Datatype type, MPI_Count count)
{
    return type == MPI_DATATYPE_NULL ||
           (!cco_type_predefined(type) && cco_ask_type(type, count) != MPI_SUCCESS);
}

static bool wrong(const cco_call *c, const cco_comm *state)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    const bool other = info->properties & CCO_ROOTED && state->rank != c->root;
    if (info->out == CCO_NONE)
        return false;
    if (info->in == CCO_NONE || info->properties & CCO_REDUCTION) /* one type on all ranks */
        return refused(c->recvtype, c->recvcount) ||
               is_null(c->sendbuf, c->recvtype, c->recvcount) ||
               (!(other && info->out & CCO_AT_ROOT) &&
                is_null(c->recvbuf, c->recvtype, c->recvcount));
    const bool sends = info->in & CCO_AT_ROOT ? !other : c->sendbuf != MPI_IN_PLACE || other;
    const bool receives = info->out & CCO_AT_ROOT ? !other : c->recvbuf != MPI_IN_PLACE || other;
    return (sends && (refused(c->sendtype, c->sendcount) ||
                      is_null(c->sendbuf, c->sendtype, c->sendcount))) ||
           (receives &&
            (refused(c->recvtype, c->recvcount) || is_null(c->recvbuf, c->recvtype, c->recvcount)));
}

static int run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_staged_key key;
    (void)way;
    if (cco_in_place_defect(call) || cco_grid_defect(call))
        return cco_blocking_instead(call, state->size);
    if (!cco_staged_key_of(state, call, &key))
        return run_once(call, state);
    if (wrong(call, state))
        return cco_native_blocking(cco_natives_for(call), call);
    cco_staged *kept = NULL;
    int rc = cco_staged_find(state, &key, &kept);
    if (rc == MPI_SUCCESS && kept == NULL)
        return run_once(call, state);
    if (rc == MPI_SUCCESS)
        rc = run_kept(kept, call, state);
    if (rc != MPI_SUCCESS) /* it came from our communicator, not the program's */
        rc = cco_comm_raise(state, call->coll, rc);
    return rc;
}

static const char *refuses(const cco_way *way, cco_coll coll, int size)
{
    (void)way, (void)size;
    if (cco_is_ours(coll))
        return "no MPI has such a call";
    return cco_persistent_defect(coll);
}

const cco_model cco_model_persist = {
    .name = "persist",
    .doc = "the MPI's persistent collective, kept and started again",
    .run = run,
    .touches = true,
    .below = &cco_model_nonblock,
    .refuses = refuses,
#if !defined(CRESTA_HAVE_PERSISTENT)
    .lacking = "this MPI has no persistent collectives (they came with MPI 4.0)",
#endif
};
