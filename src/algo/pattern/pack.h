/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.h - blocks from wherever they lie to one after the other, and back. */
#ifndef CCO_PACK_H
#define CCO_PACK_H

#include "sched/problem.h"

/* Copies the blocks that a side has for `count` ranks from `first` on, counted modulo the number of
 * ranks, to `packed`, which has their size. */
void cco_pack(cco_sched *s, const cco_problem *q, const cco_side *side, int first, int count,
              cco_span packed);
void cco_unpack(cco_sched *s, const cco_problem *q, const cco_side *side, int first, int count,
                cco_span packed);

#endif
