/* SPDX-License-Identifier: BSD-3-Clause */
/* below.c - see below.h. */
#include "model/below.h"

#include "call/data.h"
#include "comm/failure.h"
#include "comm/fallback.h"
#include "call/raise.h"
#include "model/registry.h"

static int below_number_of(const cco_model *model)
{
    int i = 0;
    while (cco_models[i] != model)
        i++;
    return i;
}

bool cco_is_uneven(const cco_call *call)
{
    return cco_coll_infos[call->coll].properties & CCO_REDUCTION &&
           !(cco_op_predefined(call->op) && cco_type_dense(call->recvtype));
}

int cco_run_mpi(cco_comm *state, const cco_call *call)
{
    return cco_models[0]->run(state, &(cco_way){.model = cco_models[0]}, call);
}

int cco_run_fallback(const cco_way *way, cco_comm *state, const cco_call *call, const char *why)
{
    static uint32_t reported; /* bit per model */
    const cco_model *model = way->model;
    const bool lost = way->exact && model->below->algorithms == NULL;
    const cco_fallback fallback = {.asked = model->name,
                                   .why = why,
                                   .instead = model->below->name,
                                   .reports = state->rank == 0,
                                   .forbidden = lost};
    if (cco_comm_has_failed(state)) /* memory was not refused, a rank did not answer */
        return cco_comm_raise(state, call->coll, state->failure.error);
    if (way->automatic)
        return cco_run_mpi(state, call);
    if (way->exact && !lost) /* the same algorithm, over something else: the same bits */
        return model->below->run(
            state, &(cco_way){.model = model->below, .algo = way->algo, .exact = true}, call);
    int rc = cco_fall_back(state, &fallback, &reported, below_number_of(model));
    if (rc == MPI_SUCCESS)
        return model->below->run(state, &(cco_way){.model = model->below}, call);
    return cco_raise_in(call->comm, call->coll, cco_comm_refuse(state, rc));
}
