/* SPDX-License-Identifier: BSD-3-Clause */
/* handed.h - calls that a model hands to the MPI under another name than the program's: what is
 * wrong in their arguments must be found first, for the MPI's error to name the program's call. */
#ifndef CCO_HANDED_H
#define CCO_HANDED_H

#include "core/comm.h"

/* False for a call that the MPI has to refuse (plan/arguments.h).  One that is right is remembered:
 * calls like it run at once from then on, where they may repeat. */
bool cco_handed_is_right(cco_comm *state, const cco_way *way, const cco_call *call);

#endif
