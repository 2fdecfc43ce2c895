/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - see pack.h. */
#include "algo/pattern/pack.h"

static void pattern_pack_copy_blocks(cco_sched *s, const cco_problem *q, const cco_side *side,
                                     int first, int count, cco_span packed, bool back)
{
    size_t at = 0;
    for (int i = first; i < first + count; i++) {
        const cco_span block = cco_block(q, side, i), there = cco_part(s, packed, at, block.n);
        cco_copy(s, back ? there : block, back ? block : there);
        at += block.n;
    }
}

void cco_pack(cco_sched *s, const cco_problem *q, const cco_side *side, int first, int count,
              cco_span packed)
{
    pattern_pack_copy_blocks(s, q, side, first, count, packed, false);
}

void cco_unpack(cco_sched *s, const cco_problem *q, const cco_side *side, int first, int count,
                cco_span packed)
{
    pattern_pack_copy_blocks(s, q, side, first, count, packed, true);
}
