/* SPDX-License-Identifier: BSD-3-Clause */
/* model "mpi": the MPI's own blocking call. */
#include "core/model.h"
#include "native/calls.h"

static int run(struct cco_comm *state, const cco_call *call)
{
    (void)state;
    return cco_native_blocking(call);
}

const cco_model cco_model_mpi = {
    .name = "mpi",
    .doc = "the MPI's own blocking call",
    .run = run,
};
