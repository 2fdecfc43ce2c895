/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_loop.h - an engine goes through its tasks.  Inline: a transport that runs small schedules
 * has a copy in which its own operations are called directly (transport.h, go_on). */
#ifndef CCO_ENGINE_LOOP_H
#define CCO_ENGINE_LOOP_H

#include "sched/engine_task.h"

static inline cco_data cco_engine_data(const cco_binding *b, const place *p)
{
    return (cco_data){b->base[p->base] + p->at, p->count, &b->layouts[p->layout]};
}

/* Local steps take what messages are on their way. */
static inline int cco_engine_send_off(cco_engine *e, const cco_transport *transport)
{
    bool ended; /* the next test will say so, too */
    return transport->test(e->transfer, &ended);
}

/* A task that is not the end of a round. */
static inline __attribute__((always_inline)) int
cco_engine_task(cco_engine *e, const cco_transport *transport, const task *t)
{
    const cco_binding *b = e->binding;
    const cco_data data = cco_engine_data(b, &t->data);
    if (t->kind == TASK_SEND)
        return transport->send(e->transfer, t->peer, &data);
    if (t->kind == TASK_RECV)
        return transport->recv(e->transfer, t->peer, &data);
    if (t->kind <= TASK_REDUCE_ANY) {
        const cco_data to = cco_engine_data(b, &t->to);
        if (t->kind == TASK_COPY)
            return transport->copy(e->transfer, &data, &to);
        if (t->kind == TASK_REDUCE)
            return transport->reduce(e->transfer, &data, &to, &b->operation);
        return cco_engine_reduce(e, t, data, to);
    }
    return t->kind == TASK_REMOTE ? cco_engine_start_remote(e, t, &data)
                                  : cco_engine_send_off(e, transport);
}

/* Opens rounds up to one that waits, or to the end. */
static inline __attribute__((always_inline)) int cco_engine_loop(cco_engine *e,
                                                                 const cco_transport *transport)
{
    for (const task *t = e->opened = e->next;; t++) {
        if (t->kind < TASK_WAIT) {
            const int rc = cco_engine_task(e, transport, t);
            if (rc != MPI_SUCCESS)
                return cco_engine_stop(e, rc);
            continue;
        }
        if (t->kind != TASK_PASS) {
            e->next = t + 1;
            return MPI_SUCCESS;
        }
        e->at++;
        e->opened = t + 1;
    }
}

#endif
