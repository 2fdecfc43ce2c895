/* SPDX-License-Identifier: BSD-3-Clause */
/* below.c - see below.h. */
#include "model/below.h"

#include "core/config.h"
#include "core/log.h"
#include "model/registry.h"

static bool first_time(const cco_model *model)
{
    static uint32_t told; /* bit per model */
    int i = 0;
    while (cco_models[i] != model)
        i++;
    return !(__atomic_fetch_or(&told, 1u << i, __ATOMIC_RELAXED) >> i & 1);
}

int cco_run_below(const cco_model *model, cco_comm *state, const cco_call *call, const char *why)
{
    const cco_model *below = model->below;
    const cco_way way = {.model = below};
    const bool error = cco_configured.fallback == CCO_FALLBACK_ERROR;
    if (state->rank == 0 && cco_configured.fallback != CCO_FALLBACK_SILENT && first_time(model))
        cco_say("%s on communicator '%s': %s%s%s%s", model->name, state->name, why,
                error ? "; CRESTA_FALLBACK=error" : "; ", error ? "" : below->name,
                error ? "" : " runs instead");
    if (!error)
        return below->run(state, &way, call);
    const int rc = cco_comm_refuse(state, MPI_ERR_UNSUPPORTED_OPERATION);
    PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}
