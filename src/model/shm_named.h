/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_named.h - algorithms by their names through shared memory (shm:ring): schedules over streams
 * in a segment. */
#ifndef CCO_SHM_NAMED_H
#define CCO_SHM_NAMED_H

#include "model/stream_model.h"
#include "transport/shm/segment.h"

typedef struct cco_shm_named {
    bool asked;                /* for the segment: it is there, or never will be */
    bool asked_single, single; /* whether the kernel copies messages; it does */
    cco_segment segment;
    cco_watch watch; /* of the ranks that share it */
    cco_area area;
    cco_stream_model streams;
} cco_shm_named;

/* True on all ranks if there is memory for it, made in the first call; collective. */
bool cco_shm_named_there(cco_shm_named *named, cco_comm *state);

/* Afterwards: true on all ranks if messages can be copied once, by the kernel, found out in the
 * first call; collective. */
bool cco_shm_named_single(cco_shm_named *named, const cco_comm *state);

/* Runs a call whose arguments are fine, the messages of `shows` copied once.
 * Returns MPI_SUCCESS or an MPI error class. */
int cco_shm_named_run(cco_shm_named *named, cco_shown_rule shows, cco_comm *state,
                      const cco_way *way, const cco_call *call);

/* A process has failed: this rank takes no further part. */
void cco_shm_named_leave(cco_shm_named *named, int error);

void cco_shm_named_free(cco_shm_named *named);

#endif
