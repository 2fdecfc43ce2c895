/* SPDX-License-Identifier: BSD-3-Clause */
/* model "nonblock": the MPI's own non-blocking call, completed inside by a polite wait (MPI 3.0,
 * section 5.12). */
#include <stdlib.h>

#include "comm/comm.h"
#include "mpi/mpi_compat.h"
#include "native/calls.h"
#include "native/defects.h"
#include "native/empty.h"
#include "native/models.h"
#include "native/neighbor_reduce.h"
#include "native/staging.h"
#include "native/watched_wait.h"

static int start_and_wait(cco_comm *state, const cco_call *call)
{
    MPI_Request request = MPI_REQUEST_NULL; /* stays so after an error that MPICH 5 forgets */
    cco_call ours = *call;
    ours.comm = cco_staging_comm(state, call->coll);
    const int rc = cco_native_nonblocking(&cco_native[CCO_CALLER_INTERNAL], &ours, &request);
    return rc == MPI_SUCCESS ? cco_wait_watched(state, &request) : rc;
}

static int nonblock_reduce(cco_comm *state, const cco_call *call)
{
    const bool holds = cco_native_holds(call);
    if (holds)
        cco_progress_thread_hold_call(true);
    const int rc = cco_is_ours(call->coll) ? cco_neighbor_reduce_politely(call)
                                           : start_and_wait(state, call);
    if (holds)
        cco_progress_thread_hold_call(false);
    return rc;
}

static int nonblock_run(struct cco_comm *state, const cco_way *way, const cco_call *call)
{
    (void)way;
    if (cco_coll_infos[call->coll].properties & CCO_REDUCTION)
        return cco_watched_end(state, call->coll, nonblock_reduce(state, call));
    if (cco_in_place_defect(call) || cco_grid_defect(call))
        return cco_blocking_instead(call, state->size);
    cco_call ours = *call;
    void *memory;
    cco_drop_empty(&ours, cco_comm_blocks(state, call->coll), state->rank == call->root, &memory);
    const int rc = start_and_wait(state, &ours);
    free(memory);
    return cco_watched_end(state, call->coll, rc);
}

const cco_model cco_model_nonblock = {
    .name = "nonblock",
    .doc = "the MPI's non-blocking call and a polite wait",
    .begins_plainly = true,
    .other_names = true,
    .run = nonblock_run,
    .set_up = cco_staging_set_up,
    .below = &cco_model_mpi,
};
