/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_loop.h - an engine goes through its tasks.  Inline: a transport that runs small schedules
 * has a copy in which its own operations are called directly (transport.h, go_on). */
#ifndef CCO_ENGINE_LOOP_H
#define CCO_ENGINE_LOOP_H

#include <stdint.h>
#include <string.h>

#include "sched/engine_run.h"
#include "sched/engine_task.h"

/* Local steps take what messages are on their way. */
static inline int cco_engine_send_off(cco_engine *e, const cco_transport *transport)
{
    bool ended; /* the next test will say so, too */
    return transport->test(e->transfer, &ended);
}

/* A kernel reads both operands where they are. */
static inline __attribute__((always_inline)) int cco_engine_combine(cco_engine *e, const task *t)
{
    const cco_binding *b = e->binding;
    if (b->operation.kernel == NULL)
        return cco_engine_combine_any(e, t);
    b->operation.kernel(b->base[t->data.base] + t->data.at, b->base[t->right_base] + t->right_at,
                        b->base[t->to.base] + t->to.at, t->to.count);
    return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int
cco_engine_send(cco_engine *e, const cco_transport *transport, const task *t)
{
    const cco_data data = cco_engine_data(e->binding, &t->data);
    return transport->send(e->transfer, t->peer, &data);
}

static inline __attribute__((always_inline)) int
cco_engine_recv(cco_engine *e, const cco_transport *transport, const task *t)
{
    const cco_data data = cco_engine_data(e->binding, &t->data);
    return transport->recv(e->transfer, t->peer, &data);
}

static inline __attribute__((always_inline)) int
cco_engine_local(cco_engine *e, const cco_transport *transport, const task *t)
{
    const cco_binding *b = e->binding;
    const cco_data data = cco_engine_data(b, &t->data), to = cco_engine_data(b, &t->to);
    if (t->word && transport->words) {
        memcpy(to.at, data.at, sizeof(uint64_t));
        return MPI_SUCCESS;
    }
    if (t->kind == TASK_COPY)
        return transport->copy(e->transfer, &data, &to);
    return t->kind == TASK_REDUCE ? transport->reduce(e->transfer, &data, &to, &b->operation)
                                  : cco_engine_reduce(e, t, data, to);
}

/* A task that is not the end of a round. */
static inline __attribute__((always_inline)) int
cco_engine_task(cco_engine *e, const cco_transport *transport, const task *t)
{
    if (t->kind == TASK_SEND)
        return cco_engine_send(e, transport, t);
    if (t->kind == TASK_RECV)
        return cco_engine_recv(e, transport, t);
    if (t->kind == TASK_COMBINE)
        return cco_engine_combine(e, t);
    if (t->kind <= TASK_REDUCE_ANY)
        return cco_engine_local(e, transport, t);
    return t->kind == TASK_REMOTE
               ? cco_engine_start_remote(e, t, cco_engine_data(e->binding, &t->data))
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

/* Whether what a round waits for is there.  For several requests, Open MPI takes in messages only
 * after it has looked which are over: so the second look finds what is there at the first. */
static inline __attribute__((always_inline)) int
cco_engine_look(cco_engine *e, const cco_transport *transport, bool *ended)
{
    const int rc = transport->test(e->transfer, ended);
    return rc == MPI_SUCCESS && !*ended && transport->tests_mpi
               ? transport->test(e->transfer, ended)
               : rc;
}

/* What comes after a task where rounds are not counted. */
static inline const task *cco_engine_after(const task *t)
{
    return (const task *)(const void *)((const char *)t + t->ahead);
}

/* All of a schedule, as far as it goes without waiting: mostly what a round waits for is there
 * where messages are small and their sender came before.  NULL when it is over, with what that
 * returns in `*rc`; else the end of the round that has to wait, for cco_engine_wait. */
static inline __attribute__((always_inline)) const task *
cco_engine_pass(cco_engine *e, const cco_binding *binding, const cco_transport *transport, int *rc)
{
    e->binding = binding;
    e->at = 0;
    transport->begin(e->transfer);
    for (const task *t = e->tasks;; t = cco_engine_after(t)) {
        bool ended = true;
        switch ((task_kind)t->kind) { /* one jump, which processors foresee */
        case TASK_SEND:
            *rc = cco_engine_send(e, transport, t);
            break;
        case TASK_RECV:
            *rc = cco_engine_recv(e, transport, t);
            break;
        case TASK_COMBINE:
            *rc = cco_engine_combine(e, t);
            break;
        case TASK_COPY:
        case TASK_REDUCE:
        case TASK_REDUCE_ANY:
        case TASK_REMOTE:
        case TASK_SEND_OFF:
            *rc = cco_engine_task(e, transport, t);
            break;
        case TASK_WAIT:
            *rc = cco_engine_look(e, transport, &ended);
            if (!t->last || *rc != MPI_SUCCESS || !ended)
                break;
            e->at = e->rounds;
            return NULL;
        case TASK_PASS:
            continue;
        case TASK_END:
            e->at = e->rounds;
            return NULL;
        default:
            __builtin_unreachable();
        }
        if (__builtin_expect(*rc != MPI_SUCCESS, 0)) {
            *rc = cco_engine_stop(e, *rc);
            return NULL;
        }
        if (!ended)
            return t;
    }
}

#endif
