/* SPDX-License-Identifier: BSD-3-Clause */
/* combine.c - see combine.h. */
#include "algo/pattern/combine.h"

void cco_combine(cco_sched *s, cco_span got, cco_span mine, bool theirs_left)
{
    cco_round(s);
    if (theirs_left) {
        cco_reduce(s, got, mine);
    } else {
        cco_reduce(s, mine, got);
        cco_round(s);
        cco_copy(s, got, mine);
    }
}
