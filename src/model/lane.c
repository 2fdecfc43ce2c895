/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.c - see lane.h. */
#include "model/lane.h"

#include "core/log.h"
#include "core/wait.h"

size_t cco_lane_share(const cco_comm *state, const cco_call *call, size_t most, MPI_Comm comm)
{
    const int p = state->size;
    const size_t ring = cco_stream_ring(p, most);
    uint64_t wish = (uint64_t)cco_bytes(call, state->rank, p), all = wish;
    MPI_Request request;
    if (PMPI_Iallreduce(&wish, &all, 1, MPI_UINT64_T, MPI_MAX, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
    return cco_stream_share(p, all < ring ? (size_t)all / 64 * 64 + 64 : ring);
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
