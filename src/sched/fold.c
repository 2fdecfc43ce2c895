/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.c - see run.h. */
#include "sched/fold.h"

/* Operands are combined from the last to the first, which is the left one. */
static int fold_in_turn(const cco_transport *transport, void *transfer, const cco_data *from,
                        const cco_data *into, const cco_reduce_op *op)
{
    const ptrdiff_t step = (ptrdiff_t)into->count * from->layout->extent;
    size_t left = from->count / into->count - 1;
    cco_data operand = {from->at + (ptrdiff_t)left * step, into->count, from->layout};
    int rc = transport->copy(transfer, &operand, into);
    for (; left > 0 && rc == MPI_SUCCESS; left--) {
        operand.at -= step;
        rc = transport->reduce(transfer, &operand, into, op);
    }
    return rc;
}

int cco_fold_run(const cco_transport *transport, void *transfer, bool folds, const cco_data *from,
                 const cco_data *into, const cco_reduce_op *op)
{
    if (!folds)
        return transport->reduce(transfer, from, into, op);
    if (op->fold == NULL)
        return fold_in_turn(transport, transfer, from, into, op);
    const cco_operands parts = {.first = from->at,
                                .step = (ptrdiff_t)into->count * from->layout->extent};
    op->fold(&parts, (int)(from->count / into->count), into->at, into->count);
    return MPI_SUCCESS;
}
