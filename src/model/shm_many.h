/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_many.h - communicators of more ranks than one flat exchange suits: small calls on slot rings
 * at two levels. */
#ifndef CCO_SHM_MANY_H
#define CCO_SHM_MANY_H

#include "plan/call_cache.h"
#include "transport/shm/levels.h"
#include "transport/shm/segment.h"

typedef struct cco_shm_many {
    bool asked;  /* for the memory: it is there, or never will be */
    bool behind; /* this rank has not begun its last call, which the others may have */
    cco_segment segment;
    cco_watch watch; /* of the ranks that share it, */
    int *near, *far; /* and the seats of this rank's group, and of the leaders */
    cco_groups groups;
    cco_levels levels;
    cco_workspace workspace;
    cco_cached_call cached[CCO_CACHED_CALLS];
} cco_shm_many;

/* Runs a call whose arguments are fine if it is one for two levels; `*rc` is MPI_SUCCESS or an MPI
 * error class.  False, on all ranks, if it is not, or if there is no memory.  Collective where the
 * first one is made. */
bool cco_shm_many_run(cco_shm_many *many, cco_comm *state, const cco_way *way, const cco_call *call,
                      int *rc);

/* A process has failed: this rank takes no further part, and calls return `error`. */
void cco_shm_many_leave(cco_shm_many *many, int error);

void cco_shm_many_free(cco_shm_many *many);

#endif
