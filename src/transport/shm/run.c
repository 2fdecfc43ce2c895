/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - see run.h. */
#include "transport/shm/run.h"

void cco_run_differs(const cco_run *r, int rank, const char *slot, const char *lane, size_t n)
{
    uint64_t here = cco_run_expected(r, n), there = cco_stamp_alone(cco_slot_word(slot));
    if (here == there && lane != NULL && r->stage->head > 0) {
        here += cco_stamp_bytes(n);
        there += cco_stamp_bytes(cco_run_head(lane));
    }
    cco_elsewhere_note(r->ring, rank, here, there);
}
