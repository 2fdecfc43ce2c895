/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_named.h - algorithms by their names through shared memory (shm:ring): schedules over streams
 * in a segment. */
#ifndef CCO_SHM_NAMED_H
#define CCO_SHM_NAMED_H

#include "model/stream_model.h"
#include "transport/shm/segment.h"

typedef struct cco_shm_named {
    bool asked; /* for the segment: it is there, or never will be */
    cco_segment segment;
    cco_area area;
    cco_stream_model streams;
} cco_shm_named;

/* True on all ranks if there is memory for it, made in the first call; collective. */
bool cco_shm_named_there(cco_shm_named *named, cco_comm *state);

/* Afterwards: runs a call whose arguments are fine. */
int cco_shm_named_run(cco_shm_named *named, cco_comm *state, const cco_way *way,
                      const cco_call *call);

void cco_shm_named_free(cco_shm_named *named);

#endif
