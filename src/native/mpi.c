/* SPDX-License-Identifier: BSD-3-Clause */
/* model "mpi": the MPI's own blocking call. */
#include "native/calls.h"
#include "native/models.h"

static int mpi_run(struct cco_comm *state, const cco_way *way, const cco_call *call)
{
    (void)state, (void)way;
    return cco_native_blocking(cco_natives_for(call), call);
}

const cco_model cco_model_mpi = {
    .name = "mpi",
    .doc = "the MPI's own blocking call",
    .begins_plainly = true,
    .run = mpi_run,
};
