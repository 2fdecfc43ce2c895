/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_single.c - see shm_single.h. */
#include "model/shm_single.h"

#include "core/facts.h"
#include "core/fallback.h"
#include "core/wait.h"

/* Tells the others who this rank is; nobody reads before all have made their part ready. */
static bool exchange(cco_pull *pull, MPI_Comm comm)
{
    const cco_pull_peer me = cco_pull_me();
    const int n = (int)sizeof me;
    MPI_Request request;
    return PMPI_Iallgather(&me, n, MPI_BYTE, pull->peers, n, MPI_BYTE, comm, &request) ==
               MPI_SUCCESS &&
           cco_wait(&request) == MPI_SUCCESS;
}

/* Probes every rank: what is refused for one may be allowed for another. */
static bool open_pull(cco_shm_single *single, const cco_comm *state, const cco_segment *segment)
{
    cco_pull *pull = &single->pull;
    const bool opened = cco_pull_open(pull, segment->memory + single->at, segment->share,
                                      state->rank, state->size);
    if (!cco_all(opened, state->comm)) {
        cco_pull_close(pull);
        return false;
    }
    const bool can = exchange(pull, state->comm) && cco_pull_probe(pull) && !cco_disagrees();
    if (cco_all(can, state->comm))
        return true;
    cco_pull_close(pull);
    return false;
}

int cco_shm_single_there(cco_shm_single *single, cco_comm *state, const cco_segment *segment,
                         bool *there)
{
    static uint32_t reported;
    const cco_fallback fallback = {NULL, "shm?copy=single",
                                   "the kernel does not let the ranks read each other's memory",
                                   "shm?copy=slots", state->rank == 0};
    if (!single->asked)
        open_pull(single, state, segment);
    single->asked = true;
    *there = single->pull.peers != NULL;
    return *there ? MPI_SUCCESS : cco_fall_back(state, &fallback, &reported, 0);
}

void cco_shm_single_free(cco_shm_single *single)
{
    cco_pull_close(&single->pull);
}
