/* SPDX-License-Identifier: BSD-3-Clause */
/* contributions.h - reductions that bring all operands of an element to one place, and combine them
 * there at once (cco_fold_into): what "exact" is made of. */
#ifndef CCO_CONTRIBUTIONS_H
#define CCO_CONTRIBUTIONS_H

#include "sched/problem.h"

/* True where it is better that ranks get all operands of all elements than each those of its part,
 * in one more exchange: little data, in a number of messages that grows with log p only. */
bool cco_all_contribute(const cco_problem *q, size_t n);

/* The vectors of all ranks, one after the other, in scratch on every rank. */
cco_span cco_contributions(cco_sched *s, const cco_problem *q, cco_span mine);

/* Part `i` of a vector that all ranks have, as cco_cut cuts it. */
cco_span cco_share(cco_sched *s, const cco_problem *q, cco_span vector, int i);

/* The parts of this rank of the vectors of all ranks, one after the other, in scratch. */
cco_span cco_contributed_share(cco_sched *s, const cco_problem *q, cco_span mine);

#endif
