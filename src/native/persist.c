/* SPDX-License-Identifier: BSD-3-Clause */
/* model "persist": the MPI's persistent collective (MPI 4.0, section 6.13), kept on the
 * communicator and started again.
 *
 * What is kept is bound to staging buffers of ours and found by what all ranks know: a cache keyed
 * by the caller's addresses or datatypes could hit on one rank and miss on another, which would
 * deadlock.  What cannot be keyed so (uneven vectors, derived types in reductions, user-defined
 * operations, large messages) is made for the one call, started, waited for and freed. */
#include <stdlib.h>

#include "comm/comm.h"
#include "comm/failure.h"
#include "mpi/mpi_compat.h"
#include "native/calls.h"
#include "native/defects.h"
#include "native/empty.h"
#include "native/models.h"
#include "native/staging.h"
#include "native/watched_wait.h"

static int start_once(cco_comm *state, const cco_call *call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = cco_native_persistent(&cco_native[CCO_CALLER_INTERNAL], call, MPI_INFO_NULL, &request);
    /* MPICH 5 answers success, and makes no request, when a user's handler got an error. */
    if (rc != MPI_SUCCESS || request == MPI_REQUEST_NULL)
        return rc;
    rc = PMPI_Start(&request);
    if (rc == MPI_SUCCESS)
        rc = cco_wait_watched(state, &request);
    if (state->failure.error == MPI_SUCCESS) /* otherwise it may be active for ever */
        PMPI_Request_free(&request);
    return rc;
}

static int run_once(const cco_call *call, cco_comm *state)
{
    cco_call ours = *call;
    void *memory;
    ours.comm = cco_staging_comm(state, call->coll);
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

static int persist_run_kept(cco_staged *kept, const cco_call *call, cco_comm *state)
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

static int persist_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_staged_key key;
    (void)way;
    if (cco_in_place_defect(call) || cco_grid_defect(call))
        return cco_blocking_instead(call, state->size);
    if (!cco_staged_key_of(state, call, &key))
        return run_once(call, state);
    cco_staged *kept = NULL;
    int rc = cco_staged_find(state, &key, &kept);
    if (rc == MPI_SUCCESS && kept == NULL)
        return run_once(call, state);
    if (rc == MPI_SUCCESS)
        rc = persist_run_kept(kept, call, state);
    if (rc != MPI_SUCCESS) /* it came from our communicator, not the program's */
        rc = cco_comm_raise(state, call->coll, rc);
    return rc;
}

static const char *persist_refuses(const cco_way *way, cco_coll coll, int size)
{
    (void)way, (void)size;
    if (cco_is_ours(coll))
        return "no MPI has such a call";
    return cco_persistent_defect(coll);
}

const cco_model cco_model_persist = {
    .name = "persist",
    .doc = "the MPI's persistent collective, kept and started again",
    .run = persist_run,
    .set_up = cco_staging_set_up,
    .touches = true,
    .other_names = true,
    .below = &cco_model_nonblock,
    .refuses = persist_refuses,
#if !defined(CRESTA_HAVE_PERSISTENT)
    .lacking = "this MPI has no persistent collectives (they came with MPI 4.0)",
#endif
};
