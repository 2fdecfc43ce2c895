/* SPDX-License-Identifier: BSD-3-Clause */
/* message_levels.c - see message_levels.h. */
#include "sched/message_levels.h"

#include <stdlib.h>

bool cco_message_levels_open(cco_message_levels *levels, const cco_sched *s)
{
    *levels = (cco_message_levels){.sched = s, .end = cco_round_end(s, 0)};
    levels->of = calloc((size_t)s->count + 1, sizeof *levels->of);
    return levels->of != NULL;
}

void cco_message_levels_meet(cco_message_levels *levels, int step, int least_of_peer)
{
    levels->of[step] = least_of_peer > levels->least ? least_of_peer : levels->least;
}

bool cco_message_levels_next(cco_message_levels *levels)
{
    const cco_sched *s = levels->sched;
    int next = levels->least;
    for (int i = levels->first; i < levels->end; i++)
        if (cco_step_is_message(&s->steps[i]) && levels->of[i] >= next)
            next = levels->of[i] + 1;
    levels->least = next;
    if (levels->end >= s->count)
        return false;
    levels->first = levels->end + 1;
    levels->end = cco_round_end(s, levels->first);
    return true;
}

void cco_message_levels_close(cco_message_levels *levels)
{
    free(levels->of);
    *levels = (cco_message_levels){.sched = NULL};
}
