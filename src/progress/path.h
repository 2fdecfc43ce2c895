/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - what the schedule of a begun operation runs over (cco_path, core/model.h): the MPI's
 * sends and receives, memory that the ranks share, or nothing, so that the MPI's own non-blocking
 * call does it.  All ranks come to the same answers: they depend on rules, on arguments that are
 * equal everywhere, and on agreed facts only. */
#ifndef CCO_PATH_H
#define CCO_PATH_H

#include "core/comm.h"

/* True if a rule of a communicator lets begins run as operations of ours. */
bool cco_paths_possible(cco_comm *state);

/* Makes the paths that its rules name, unless they are there.  Collective. */
void cco_paths_prepare(cco_comm *state);

/* The path of a begin on a communicator that is set up.  `*why` says why it is not the one that the
 * rule names; NULL if it is. */
cco_path cco_path_of_begin(const cco_comm *state, const cco_way *way, const cco_call *call,
                           const char **why);

/* True if the begin could take the path that its rule names if cco_paths_prepare had been called,
 * which it was not. */
bool cco_path_needs_prepare(const cco_comm *state, const cco_way *way, const cco_call *call);

/* For CRESTA_FALLBACK=error: why the path that the rule names is unavailable here.  NULL if it is
 * available, and where no begin ever takes it: the model leaves its begins to another, or the
 * reduction has an operation of the program. */
const char *cco_path_lacks(const cco_comm *state, const cco_way *way, const cco_call *call);

#endif
