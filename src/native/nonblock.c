/* SPDX-License-Identifier: BSD-3-Clause */
/* model "nonblock": the MPI's own non-blocking call, completed inside by a polite wait (MPI 3.0,
 * section 5.12). */
#include <stdlib.h>

#include "core/comm.h"
#include "core/mpi_compat.h"
#include "core/wait.h"
#include "native/calls.h"
#include "native/defects.h"
#include "native/empty.h"
#include "native/models.h"

static int run(struct cco_comm *state, const cco_way *way, const cco_call *call)
{
    MPI_Request request = MPI_REQUEST_NULL; /* stays so after an error that MPICH 5 forgets */
    cco_call ours = *call;
    void *memory;
    (void)way;
    if (cco_in_place_defect(call) || cco_grid_defect(call))
        return cco_native_blocking(call);
    cco_drop_empty(&ours, state->size, state->rank == call->root, &memory);
    int rc = cco_native_nonblocking(&ours, &request);
    if (rc == MPI_SUCCESS)
        rc = cco_wait(&request);
    free(memory);
    return rc;
}

const cco_model cco_model_nonblock = {
    .name = "nonblock",
    .doc = "the MPI's non-blocking call and a polite wait",
    .run = run,
    .below = &cco_model_mpi,
};
