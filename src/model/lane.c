/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.c - see lane.h. */
#include "model/lane.h"

#include "core/log.h"
#include "core/wait.h"

size_t cco_lane_ring(const cco_comm *state, const cco_call *call, size_t most)
{
    const size_t ring = cco_stream_ring(state->size, most);
    const MPI_Comm comm = state->comm;
    uint64_t wish = (uint64_t)cco_bytes(call, state->rank, state->size), all = wish;
    MPI_Request request;
    if (PMPI_Iallreduce(&wish, &all, 1, MPI_UINT64_T, MPI_MAX, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
    return all < ring ? (size_t)all / 64 * 64 + 64 : ring;
}

void cco_lane_open(cco_lane *lane, cco_area *area, bool gets, cco_comm *state)
{
    if (!cco_stream_open(&lane->stream, area, gets))
        cco_fatal("no memory for streams on communicator '%s'", state->name);
    if (lane->scheduled.plans.transport == NULL)
        cco_scheduled_over(&lane->scheduled, &cco_transport_stream, &lane->stream, state);
}

void cco_lane_close(cco_lane *lane)
{
    cco_stream_close(&lane->stream);
}

void cco_lane_empty(cco_lane *lane)
{
    cco_scheduled_empty(&lane->scheduled);
}
