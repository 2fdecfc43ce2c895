/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - what the schedule of a begun operation runs over (cco_path, comm/model.h): the MPI's
 * sends and receives, memory that the ranks share, or nothing, so that the MPI's own non-blocking
 * call does it.  All ranks come to the same answers: they depend on rules, on arguments that are
 * equal everywhere, and on agreed facts only. */
#ifndef CCO_PATH_H
#define CCO_PATH_H

#include "comm/comm.h"

/* True if a rule of a communicator lets begins run as operations of ours. */
bool cco_paths_possible(cco_comm *state);

/* Makes the paths that its rules name, unless they are there.  Collective. */
void cco_paths_prepare(cco_comm *state);

/* What a begin on a communicator that is set up runs over. */
typedef struct cco_begin_path {
    cco_path path;
    const char *why; /* it is not the path that the rule names; NULL if it is */
    /* Why the path that the rule names is unavailable here, which CRESTA_FALLBACK=error forbids.
     * NULL if it is available, and where no begin ever takes it: the model leaves its begins to
     * another, or the reduction has an operation of the program. */
    const char *lacks;
    bool unprepared; /* there could be a path if cco_paths_prepare had been called */
} cco_begin_path;

/* False if no begin takes a path, whatever its arguments.  `auto` was measured in blocking calls
 * only. */
static inline bool cco_has_paths(const cco_comm *state, const cco_way *way)
{
    return way->model->path != NULL && !way->automatic && state->size > 1;
}

/* The path of a begin; none where there are no paths. */
cco_begin_path cco_path_of_begin(const cco_comm *state, const cco_way *way, const cco_call *call);

#endif
