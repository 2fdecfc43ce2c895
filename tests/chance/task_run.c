/* SPDX-License-Identifier: BSD-3-Clause */
/* task_run.c - see task.h: an operation that has been made, from its start to its end. */
#include "task.h"

#include <stdlib.h>

void task_fill(struct task *t, int record, dice d)
{
    t->record = record;
    const dice mine = dice_of(d, 5, (unsigned long)t->slot->rank);
    if (t->send.bytes > 0)
        side_fill(&t->send, t->cell, t->values, t->positive, mine);
    if (t->recv.bytes > 0)
        side_fill(&t->recv, t->cell, t->values, t->positive, mine + 1);
}

int task_call(struct task *t, MPI_Request *request)
{
    const bool polite = t->call.coll != COLL_Alltoallw &&
                        (t->call.coll != COLL_Alltoallv || (!t->zero && !t->in_place));
    if (program.plain) /* where Open MPI's are wrong that do not wait, those that do */
        return plain_call(t->mode, &t->call, polite, request);
    return call_make(t->mode, &t->call, request);
}

void task_forget(struct task *t)
{
#ifdef OPEN_MPI /* see more_types() */
    if (t->slot->grid && t->call.coll == COLL_Alltoallw && (t->mode != SPLIT || program.plain))
        return;
#endif
    side_forget_types(&t->send);
    side_forget_types(&t->recv);
    if (t->op_made)
        MPI_Op_free(&t->call.op);
    t->op_made = false;
    if (t->mode == SPLIT && !program.plain) { /* in the MPI's own calls arrays must stay */
        side_forget_arrays(&t->send);
        side_forget_arrays(&t->recv);
    }
}

unsigned long task_result(const struct task *t, int rc)
{
    unsigned long hash = (unsigned long)class_of(rc) + 1;
    if (t->send.bytes > 0)
        hash = hash * 31 + side_hash(&t->send);
    if (t->recv.bytes > 0 && !t->unseen)
        hash = hash * 31 + side_hash(&t->recv);
    return hash;
}

void task_over(struct task *t, int rc)
{
    record_put(t->record, task_result(t, rc));
}

void task_free(struct task *t)
{
    if (t->op_made)
        MPI_Op_free(&t->call.op);
    side_free(&t->send);
    side_free(&t->recv);
    free(t);
}
