/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - invariants of a schedule, whatever built it: CRESTA_DEBUG=check looks at every one. */
#ifndef CCO_CHECK_H
#define CCO_CHECK_H

#include "sched/step.h"

/* Two steps of one round that touch the same memory, one of them writing; false if there are none.
 * They run in any order, so nobody could say what comes out. */
bool cco_check_round(const cco_sched *s, int first, int end, int *one, int *other);

/* True if all is well: no round touches memory twice, and no step leaves the blocks of its problem
 * or the scratch.  Otherwise `why` says what is wrong. */
bool cco_check(const cco_sched *s, const cco_problem *q, char *why, size_t room);

#endif
