/* SPDX-License-Identifier: BSD-3-Clause */
/* combine.h - operands in the order of ranks. */
#ifndef CCO_COMBINE_H
#define CCO_COMBINE_H

#include "sched/problem.h"

/* In rounds of its own, mine = got op mine if `theirs_left`, else mine = got = mine op got. */
void cco_combine(cco_sched *s, cco_span got, cco_span mine, bool theirs_left);

#endif
