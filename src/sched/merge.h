/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h - one schedule made of those of several calls that do not depend on each other.
 *
 * All messages of one level (message_levels.h) between two ranks become one, as long as it is
 * small: their data are packed before and unpacked after, unless they lie one after the other in
 * memory anyway. Which messages go together depends on levels and sizes alone, which both ends
 * know.
 *
 * The schedule counts in bytes: all data of the calls lie without gaps.  Everything that is the
 * program's is relative to base CCO_OUT, wherever the buffers of the calls lie. */
#ifndef CCO_MERGE_H
#define CCO_MERGE_H

#include "sched/step.h"

enum {
    CCO_MERGE_PART = 4 << 10,  /* larger messages go by themselves: to copy them costs more */
    CCO_MERGE_MOST = 16 << 10, /* bytes of messages that go together */
};

/* One call. */
typedef struct cco_merge_part {
    const cco_sched *sched;
    const int *levels;     /* of its steps */
    ptrdiff_t at[CCO_TMP]; /* where its bases CCO_IN and CCO_OUT begin, from base CCO_OUT */
    int operation;         /* that its reductions have (cco_step), 0: none */
} cco_merge_part;

/* The schedule of all; the problem has rank, size, a unit of 1 and layouts of bytes.  NULL when
 * memory runs out; cco_sched_error. */
cco_sched *cco_merge(const cco_merge_part *parts, int count, const cco_problem *q);

#endif
