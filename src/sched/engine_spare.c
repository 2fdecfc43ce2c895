/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_spare.c - see engine_spare.h.  What buffers share is not known here: spans of two bases
 * never overlap, those of one base are taken to overlap always. */
#include "sched/engine_spare.h"

#include <string.h>

static bool is_same(const place *a, const place *b)
{
    return a->base == b->base && a->layout == b->layout && a->at == b->at && a->count == b->count;
}

/* Whether a task between the two makes a difference to them. */
static bool engine_spare_meddles(const task *t, const task *copy)
{
    const cco_base operand = copy->data.base, result = copy->to.base;
    switch (t->kind) {
    case TASK_WAIT:
    case TASK_PASS:
        return false;
    case TASK_SEND:
        return t->data.base == result;
    case TASK_RECV:
        return t->data.base == result || t->data.base == operand;
    default:
        return true;
    }
}

/* The reduction that takes what a copy has written; NULL if something else may come before. */
static task *engine_spare_taker(task *copy)
{
    task *t = copy + 1;
    while (t->kind != TASK_END && !engine_spare_meddles(t, copy))
        t++;
    return t->kind == TASK_REDUCE && is_same(&t->to, &copy->to) && t->data.base != copy->to.base
               ? t
               : NULL;
}

static void reads_there(task *reduction, const place *right)
{
    reduction->kind = TASK_COMBINE;
    reduction->right_base = (unsigned char)right->base;
    reduction->right_at = right->at;
}

static void leave_out(task *copy)
{
    const task *end = copy;
    while (end->kind != TASK_END)
        end++;
    memmove(copy, copy + 1, (size_t)(end - copy) * sizeof *copy);
}

void cco_engine_spare_copies(task *tasks)
{
    for (task *t = tasks; t->kind != TASK_END; t++)
        while (t->kind == TASK_COPY && t->late && t->data.base != t->to.base) {
            task *reduction = engine_spare_taker(t);
            if (reduction == NULL)
                break;
            reads_there(reduction, &t->data);
            leave_out(t);
        }
    for (task *t = tasks; t->kind != TASK_END; t++)
        if (t->kind == TASK_REDUCE)
            reads_there(t, &t->to);
}
