/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_model.h - one way over one-sided memory: streams through an area, and schedules that run
 * on them. What models `os` and `caf` share. */
#ifndef CCO_STREAM_MODEL_H
#define CCO_STREAM_MODEL_H

#include "plan/scheduled.h"
#include "transport/stream/stream.h"

typedef struct cco_stream_model {
    cco_scheduled scheduled;
    cco_stream stream;
} cco_stream_model;

/* The rings, for `ranks` ranks, with which the blocks of a call go in one piece, if a share of
 * `most` bytes has room for them; collective over the state's private communicator. */
size_t cco_stream_model_ring(const cco_comm *state, const cco_call *call, int ranks, size_t most);

/* Runs calls over an area from now on, as one end of a stream may do several times; stops the job
 * when memory runs out. */
void cco_stream_model_open(cco_stream_model *streams, cco_area *area, bool gets, cco_comm *state);

/* True, on all ranks of `comm`, if the kernel lets each read the memory of every other, so that
 * messages may be shown (transport/stream/shown.h); collective.  The area has
 * `shares` that all have opened for that. */
bool cco_stream_model_readable(const cco_area *area, MPI_Comm comm);

/* The area is no longer used. */
void cco_stream_model_close(cco_stream_model *streams);

/* Frees what a closed stream keeps for its next calls. */
void cco_stream_model_free(cco_stream_model *streams);

#endif
