/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_task.c - see engine_task.h. */
#include "sched/engine_task.h"

#include "sched/fold.h"

int cco_engine_reduce(cco_engine *e, const task *t, cco_data from, cco_data to)
{
    if (t->operation == 0)
        return cco_fold_run(e->transport, e->transfer, t->folds, &from, &to,
                            &e->binding->operation);
    const cco_typed_op *typed = &e->binding->operations[t->operation - 1];
    from.count /= typed->layout.size;
    to.count /= typed->layout.size;
    from.layout = to.layout = &typed->layout;
    return cco_fold_run(e->transport, e->transfer, t->folds, &from, &to, &typed->operation);
}

int cco_engine_combine_any(cco_engine *e, const task *t)
{
    const cco_binding *b = e->binding;
    const cco_data left = cco_engine_data(b, &t->data), to = cco_engine_data(b, &t->to);
    const cco_data right = {b->base[t->right_base] + t->right_at, to.count, to.layout};
    const bool lies_there = right.at == to.at;
    const int rc = lies_there ? MPI_SUCCESS : e->transport->copy(e->transfer, &right, &to);
    return rc == MPI_SUCCESS ? e->transport->reduce(e->transfer, &left, &to, &b->operation) : rc;
}

int cco_engine_start_remote(cco_engine *e, const task *t, cco_data data)
{
    const cco_transport *transport = e->transport;
    const int slot = t->remote.slot;
    switch (t->step) {
    case CCO_STEP_EXPOSE:
        return transport->expose(e->transfer, slot, &data);
    case CCO_STEP_PUT:
        return transport->put(e->transfer, t->peer, &data, slot, t->remote.where);
    case CCO_STEP_GET:
        return transport->get(e->transfer, t->peer, slot, t->remote.where, &data);
    case CCO_STEP_NOTIFY:
        return transport->notify(e->transfer, t->peer);
    default:
        return transport->await(e->transfer, t->peer);
    }
}
