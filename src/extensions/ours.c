/* SPDX-License-Identifier: BSD-3-Clause */
/* ours.c - see ours.h. */
#include "process/set_up.h"
#include "extensions/ours.h"

#include "api/dispatch.h"
#include "call/reentry.h"
#include "call/raise.h"
#include "native/calls.h"
#include "native/neighbor_reduce.h"
#include "plan/arguments.h"
#include "progress/operation_pool.h"
#include "model/registry.h"
#include "record/recorder.h"
#include "tune/topology.h"

/* NULL for no intracommunicator. */
static cco_comm *ours_state_of(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL || cco_is_reentered())
        return NULL;
    cco_process_enter();
    cco_comm *state = cco_comm_find(comm);
    return state != NULL && state->ready ? state : cco_prepare(comm);
}

int cco_dispatch_ours(const cco_call *call)
{
    cco_comm *state = cco_comm_threads ? &cco_comm_any_thread : ours_state_of(call->comm);
    return state != NULL ? cco_dispatch(state, call)
                         : cco_native_blocking(&cco_native[CCO_CALLER_INTERNAL], call);
}

/* A rank whose arguments are wrong comes along: the others wait for it. */
int cco_prepare_ours(const cco_call *call)
{
    cco_comm *state = ours_state_of(call->comm);
    if (state != NULL && state->topology.near != NULL)
        cco_operation_pool_make(state, CCO_PATH_MESSAGES);
    const int error = cco_neighbor_reduce_wrong(call);
    if (error != MPI_SUCCESS)
        return error;
    if (state == NULL)
        return MPI_ERR_COMM;
    if (!cco_operation_pool_has(state, CCO_PATH_MESSAGES))
        return MPI_ERR_OTHER; /* the MPI has too few tags */
    if (cco_arguments_valid(state, call))
        return MPI_SUCCESS;
    return MPI_ERR_ARG;
}

/* A rank by itself leaves its begins to the MPI, but for those that the MPI does wrong. */
static bool alone_and_wrong(cco_comm *state, const cco_call *call, const cco_way *way)
{
    if (state->size > 1 || way->model == &cco_model_mpi ||
        !cco_topology_is_wrong(state, call->coll) || !cco_arguments_valid(state, call))
        return false;
    cco_operation_pool_make(state, CCO_PATH_MESSAGES);
    return cco_operation_pool_has(state, CCO_PATH_MESSAGES);
}

/* An algorithm that was named stays, also one of nodes. */
void cco_settle_ours(cco_comm *state, const cco_call *call, cco_begin_path *begin, cco_way *way)
{
    if (begin->path != CCO_PATH_NONE ||
        (!cco_is_ours(call->coll) && !alone_and_wrong(state, call, way)))
        return;
    *begin = (cco_begin_path){.path = CCO_PATH_MESSAGES, .unprepared = begin->unprepared};
    if (way->model->path == NULL)
        *way = (cco_way){.model = &cco_model_p2p};
}

/* A persistent call is the recording of one that has not run. */
int cco_profile_count(const cco_call *call, CRESTA_Recording *recording)
{
    *recording = CRESTA_RECORDING_NULL;
    cco_comm *state = ours_state_of(call->comm);
    if (state == NULL || state->topology.near == NULL)
        return cco_raise_in(call->comm, call->coll,
                            call->comm == MPI_COMM_NULL ? MPI_ERR_COMM : MPI_ERR_TOPOLOGY);
    const int rc = CRESTA_Record_begin(call->comm);
    if (rc != MPI_SUCCESS)
        return rc;
    const cco_choice *choice = cco_choose_by_call(state, call,
                                                  cco_bytes(call, state->rank, state->size));
    cco_recorder_note(state, &choice->way, call);
    cco_recorder_ended(state, MPI_SUCCESS);
    return CRESTA_Record_end(recording);
}
