/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c - CRESTA_Win_init, CRESTA_Win_finalize. */
#include "process/set_up.h"
#include "api/dispatch.h"
#include "config/config.h"
#include "comm/teardown.h"
#include "mpi/mpi_compat.h"
#include "model/registry.h"
#include "transport/rma/window.h"

static bool may_call(const cco_comm *state, const cco_model *model)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; i < state->chosen.of[coll].count; i++)
            if (state->chosen.of[coll].list[i].way.model == model)
                return true;
    return false;
}

int CRESTA_Win_init(MPI_Comm comm)
{
    int inter = 1;
    cco_process_enter();
    if (comm == MPI_COMM_NULL) {
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_COMM);
        return MPI_ERR_COMM;
    }
    if (cco_configured.off || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return MPI_SUCCESS;
    cco_comm *state = cco_prepare(comm);
    if (state == NULL) {
        PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
        return MPI_ERR_INTERN;
    }
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->hold != NULL)
            cco_models[i]->hold(state, may_call(state, cco_models[i]));
    cco_begins_prepare(state);
    return MPI_SUCCESS;
}

static void api_windows_let_go(cco_comm *state)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->let_go != NULL)
            cco_models[i]->let_go(state);
}

/* Nothing collective may happen while states are locked: it comes afterwards. */
int CRESTA_Win_finalize(void)
{
    cco_teardowns_collect();
    cco_comm_for_each(api_windows_let_go);
    cco_windows_free(false);
    cco_teardowns_run();
    return MPI_SUCCESS;
}
