/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_model.c - see stream_model.h. */
#include "model/stream_model.h"

#include "comm/facts.h"
#include "comm/failure.h"
#include "base/log.h"
#include "mpi/service.h"
#include "plan/hooked.h"

size_t cco_stream_model_ring(const cco_comm *state, const cco_call *call, int ranks, size_t most)
{
    const size_t ring = cco_stream_ring(ranks, most);
    uint64_t all = (uint64_t)cco_bytes(call, state->rank, state->size);
    cco_service_allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_MAX, state->comm);
    return all < ring ? (size_t)all / 64 * 64 + 128 : ring; /* and a head */
}

/* Others may wait here.  By stores alone: a put may wait for a process that has ended. */
static void stream_model_leave(void *what, int error)
{
    cco_stream *stream = &((cco_stream_model *)what)->stream;
    if (stream->area != NULL && stream->area->shares != NULL)
        cco_stream_leave(stream, error);
}

void cco_stream_model_open(cco_stream_model *streams, cco_area *area, bool gets, cco_comm *state)
{
    if (!cco_stream_open(&streams->stream, area, gets))
        cco_fatal("no memory for streams on communicator '%s'", state->name);
    if (streams->scheduled.plans.transport != NULL)
        return;
    cco_scheduled_over(&streams->scheduled, &cco_transport_stream, &streams->stream,
                       &streams->stream.unlike, state);
    cco_comm_on_failure(state, stream_model_leave, streams);
}

/* Nobody reads before all have opened. */
bool cco_stream_model_readable(const cco_area *area, MPI_Comm comm)
{
    return cco_service_all(true, comm) &&
           cco_service_all(!cco_inject_mismatch() && cco_shown_readable(area), comm);
}

void cco_stream_model_close(cco_stream_model *streams)
{
    cco_stream_close(&streams->stream);
}

void cco_stream_model_free(cco_stream_model *streams)
{
    cco_scheduled_empty(&streams->scheduled);
}
