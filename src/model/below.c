/* SPDX-License-Identifier: BSD-3-Clause */
/* below.c - see below.h. */
#include "model/below.h"

#include "core/fallback.h"
#include "model/registry.h"

static int number_of(const cco_model *model)
{
    int i = 0;
    while (cco_models[i] != model)
        i++;
    return i;
}

int cco_run_below(const cco_way *way, cco_comm *state, const cco_call *call, const char *why)
{
    static uint32_t reported; /* bit per model */
    const cco_model *model = way->model;
    const cco_fallback fallback = {NULL, model->name, why, model->below->name, state->rank == 0};
    const cco_way below = {.model = way->automatic ? cco_models[0] : model->below};
    int rc = way->automatic ? MPI_SUCCESS
                            : cco_fall_back(state, &fallback, &reported, number_of(model));
    if (rc == MPI_SUCCESS)
        return below.model->run(state, &below, call);
    rc = cco_comm_refuse(state, rc);
    PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}
