/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_named.c - see shm_named.h. */
#include "model/shm_named.h"

#include <stdlib.h>

#include "core/config.h"
#include "core/wait.h"

enum { SHARE = 1 << 20 }; /* bytes of a rank, or more where many ranks need it */

static bool open_area(cco_shm_named *named, cco_comm *state)
{
    cco_area *area = &named->area;
    const int n = state->size;
    *area = (cco_area){.kind = &cco_area_direct,
                       .share = named->segment.memory + (size_t)state->rank * named->segment.share,
                       .bytes = named->segment.share,
                       .rank = state->rank,
                       .size = n,
                       .shares = malloc((size_t)n * sizeof *area->shares),
                       .comm = state->comm};
    for (int i = 0; i < n && area->shares != NULL; i++)
        area->shares[i] = named->segment.memory + (size_t)i * named->segment.share;
    return area->shares != NULL;
}

bool cco_shm_named_there(cco_shm_named *named, cco_comm *state)
{
    const size_t share = cco_stream_share(state->size, cco_stream_ring(state->size, SHARE));
    if (named->asked)
        return named->segment.memory != NULL;
    named->asked = true;
    if (!cco_segment_make(&named->segment, share, cco_configured.shm_memory, state->comm))
        return false;
    if (!cco_all(open_area(named, state), state->comm)) {
        cco_shm_named_free(named);
        return false;
    }
    cco_stream_model_open(&named->streams, &named->area, false, state);
    return true;
}

int cco_shm_named_run(cco_shm_named *named, cco_comm *state, const cco_way *way,
                      const cco_call *call)
{
    const int rc = cco_scheduled_run(&named->streams.scheduled, state, way, call);
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

void cco_shm_named_free(cco_shm_named *named)
{
    cco_stream_model_close(&named->streams);
    cco_stream_model_free(&named->streams);
    cco_segment_free(&named->segment);
    free(named->area.shares);
    named->area.shares = NULL;
}
