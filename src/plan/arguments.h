/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.h - whether the arguments of a call are right, as far as they mean something on this
 * rank.  What is wrong the MPI says itself: it knows which errors it looks for, and in which words.
 */
#ifndef CCO_ARGUMENTS_H
#define CCO_ARGUMENTS_H

#include <stdbool.h>

#include "comm/comm.h"

/* False for a call that the MPI has to refuse: its root, operation, counts, types, arrays, or
 * buffers that are null or one. */
bool cco_arguments_valid(const cco_comm *state, const cco_call *call);

/* The end of such a call: the MPI makes it. */
int cco_arguments_refuse(const cco_call *call);

/* False for a call that the MPI has to refuse (plan/arguments.h).  One that is right is remembered:
 * calls like it run at once from then on, where they may repeat. */
bool cco_handed_is_right(cco_comm *state, const cco_way *way, const cco_call *call);

/* The choice for a call of `bytes`, whatever it depends on. */
cco_choice *cco_choose_by_call(cco_comm *state, const cco_call *call, MPI_Count bytes);

#endif
