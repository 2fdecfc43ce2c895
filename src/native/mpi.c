/* SPDX-License-Identifier: BSD-3-Clause */
/* model "mpi": the MPI's own blocking call.  Ranks that share memory count it, for those that wait
 * there in another call; not where only the MPI is chosen, since some may go there straight. */
#include "comm/comm.h"
#include "call/reentry.h"
#include "call/stamp.h"
#include "native/calls.h"
#include "native/models.h"

static int mpi_run(struct cco_comm *state, const cco_way *way, const cco_call *call)
{
    (void)way;
    if (state->seats != NULL && !(state->chosen.plain >> call->coll & 1)) {
        cco_peer_state *mine = &state->seats[state->rank];
        __atomic_store_n(&mine->mpi_call, cco_stamp(call->coll, call->root, 0), __ATOMIC_RELAXED);
        __atomic_add_fetch(&mine->mpi_calls, 1, __ATOMIC_RELEASE);
    }
    if (cco_comm_threads) /* the MPI knows what it can do */
        cco_mark_give_back();
    return cco_native_blocking(cco_natives_for(call), call);
}

const cco_model cco_model_mpi = {
    .name = "mpi",
    .doc = "the MPI's own blocking call",
    .begins_plainly = true,
    .run = mpi_run,
};
