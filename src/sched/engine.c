/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - see engine.h.  Steps are sorted once, so that a start only adds addresses. */
#include "sched/engine.h"

#include <stdlib.h>

#include "core/own_lines.h"
#include "sched/engine_parts.h"
#include "sched/fold.h"

/* Bytes of messages that leave before their round listens.  Up to SMALL no MPI waits for the
 * receiver, and they arrive sooner.  From LARGE on every MPI asks the receiver first: where the
 * peer, which sends as much, has asked already, our question must go before our answer, since what
 * the answer lets loose there is in the way of its answer to us, and one direction would follow
 * the other.  In between, a receive that waits saves a copy. */
enum { SMALL = 512, LARGE = 128 << 10 };

static place place_of(const cco_sched *s, cco_span span)
{
    return (place){span.base, span.layout, span.at, span.n / s->layouts[span.layout].size};
}

static void add_messages(cco_engine *e, const cco_sched *s, int first, int last, cco_step_kind kind,
                         round *end)
{
    for (int i = first; i < last; i++) {
        const cco_step *step = &s->steps[i];
        const bool sends = kind == CCO_STEP_SEND;
        if (step->kind == kind)
            e->messages[end->messages++] = (message){sends, step->peer,
                                                     place_of(s, sends ? step->a : step->b)};
    }
}

static void add_locals(cco_engine *e, const cco_sched *s, int first, int last, round *end)
{
    for (int i = first; i < last; i++) {
        const cco_step *step = &s->steps[i];
        const bool reduces = step->kind == CCO_STEP_REDUCE;
        if (reduces || step->kind == CCO_STEP_COPY)
            e->locals[end->locals++] = (local){reduces, step->fold, step->operation,
                                               place_of(s, step->a), place_of(s, step->b)};
    }
}

/* Notifications go first: those of a round say nothing of its puts. */
static bool is_early(cco_step_kind kind)
{
    return kind == CCO_STEP_EXPOSE || kind == CCO_STEP_NOTIFY;
}

static bool is_late(cco_step_kind kind)
{
    return kind == CCO_STEP_PUT || kind == CCO_STEP_GET || kind == CCO_STEP_AWAIT;
}

static void add_remotes(cco_engine *e, const cco_sched *s, int first, int last,
                        bool (*wanted)(cco_step_kind kind), round *end)
{
    for (int i = first; i < last; i++) {
        const cco_step *step = &s->steps[i];
        const cco_span span = step->kind == CCO_STEP_GET ? step->b : step->a;
        if (wanted(step->kind))
            e->remotes[end->remotes++] = (remote){step->kind, step->peer, step->slot, step->place,
                                                  span.n > 0 ? place_of(s, span) : (place){0}};
    }
}

static bool sends_first(const cco_sched *s, int first, int last)
{
    for (int i = first; i < last; i++)
        if (s->steps[i].kind == CCO_STEP_SEND && s->steps[i].a.n > SMALL && s->steps[i].a.n < LARGE)
            return false;
    return true;
}

/* Sorts the steps by rounds, and there by kind.  Returns the most messages of a round. */
static int arrange(cco_engine *e, const cco_sched *s)
{
    round end = {0};
    int most = 0;
    for (int first = 0, last; first < s->count; first = last + 1) {
        const int before = end.messages + end.remotes;
        last = cco_round_end(s, first);
        const bool sends = sends_first(s, first, last);
        add_messages(e, s, first, last, sends ? CCO_STEP_SEND : CCO_STEP_RECV, &end);
        add_messages(e, s, first, last, sends ? CCO_STEP_RECV : CCO_STEP_SEND, &end);
        add_locals(e, s, first, last, &end);
        add_remotes(e, s, first, last, is_early, &end);
        add_remotes(e, s, first, last, is_late, &end);
        e->ends[e->rounds++] = end;
        const int here = end.messages + end.remotes - before;
        most = here > most ? here : most;
    }
    return most;
}

static bool is_able(const cco_transport *transport, cco_step_kind kind)
{
    switch (kind) {
    case CCO_STEP_EXPOSE:
        return transport->expose != NULL;
    case CCO_STEP_PUT:
        return transport->put != NULL;
    case CCO_STEP_GET:
        return transport->get != NULL;
    case CCO_STEP_NOTIFY:
        return transport->notify != NULL;
    case CCO_STEP_AWAIT:
        return transport->await != NULL;
    default:
        return true;
    }
}

bool cco_engine_able(const cco_sched *s, const cco_transport *transport)
{
    for (int i = 0; i < s->count; i++)
        if (!is_able(transport, s->steps[i].kind))
            return false;
    return true;
}

cco_engine *cco_engine_new(const cco_sched *s, const cco_transport *transport, void *shared)
{
    cco_engine *e = cco_engine_able(s, transport) ? cco_own_lines(sizeof *e) : NULL;
    const size_t room = (size_t)s->count + 1;
    if (e == NULL)
        return NULL;
    e->transport = transport;
    e->ends = calloc(room, sizeof *e->ends);
    e->messages = calloc(room, sizeof *e->messages);
    e->locals = calloc(room, sizeof *e->locals);
    e->remotes = calloc(room, sizeof *e->remotes);
    if (e->ends != NULL && e->messages != NULL && e->locals != NULL && e->remotes != NULL)
        e->transfer = transport->open(shared, arrange(e, s));
    e->at = e->rounds;
    if (e->transfer != NULL)
        return e;
    cco_engine_free(e);
    return NULL;
}

void cco_engine_free(cco_engine *e)
{
    if (e == NULL)
        return;
    if (e->transfer != NULL && e->at < e->rounds)
        e->transport->abandon(e->transfer);
    if (e->transfer != NULL)
        e->transport->close(e->transfer);
    free(e->ends);
    free(e->messages);
    free(e->locals);
    free(e->remotes);
    free(e);
}

static inline cco_data data_of(const cco_binding *b, const place *p)
{
    return (cco_data){b->base[p->base] + p->at, p->count, &b->layouts[p->layout]};
}

/* Starts the messages of the open round. */
static int start_messages(cco_engine *e, int first, int end)
{
    int rc = MPI_SUCCESS;
    for (int i = first; i < end && rc == MPI_SUCCESS; i++) {
        const message *m = &e->messages[i];
        const cco_data data = data_of(e->binding, &m->data);
        rc = m->sends ? e->transport->send(e->transfer, m->peer, &data)
                      : e->transport->recv(e->transfer, m->peer, &data);
    }
    return rc;
}

/* With the operation that the step names; its data are counted in bytes. */
static int reduce_typed(cco_engine *e, const local *step, cco_data from, cco_data to)
{
    const cco_typed_op *typed = &e->binding->operations[step->operation - 1];
    from.count /= typed->layout.size;
    to.count /= typed->layout.size;
    from.layout = to.layout = &typed->layout;
    return cco_fold_run(e->transport, e->transfer, step->folds, &from, &to, &typed->operation);
}

static int run_locals(cco_engine *e, int first, int end)
{
    int rc = MPI_SUCCESS;
    for (int i = first; i < end && rc == MPI_SUCCESS; i++) {
        const local *step = &e->locals[i];
        const cco_data from = data_of(e->binding, &step->from);
        const cco_data to = data_of(e->binding, &step->to);
        if (!step->reduces)
            rc = e->transport->copy(e->transfer, &from, &to);
        else if (step->operation > 0)
            rc = reduce_typed(e, step, from, to);
        else
            rc = cco_fold_run(e->transport, e->transfer, step->folds, &from, &to,
                              &e->binding->operation);
    }
    return rc;
}

static int start_remote(cco_engine *e, const remote *step)
{
    const cco_transport *transport = e->transport;
    const cco_data data = data_of(e->binding, &step->data);
    switch (step->kind) {
    case CCO_STEP_EXPOSE:
        return transport->expose(e->transfer, step->slot, &data);
    case CCO_STEP_PUT:
        return transport->put(e->transfer, step->peer, &data, step->slot, step->where);
    case CCO_STEP_GET:
        return transport->get(e->transfer, step->peer, step->slot, step->where, &data);
    case CCO_STEP_NOTIFY:
        return transport->notify(e->transfer, step->peer);
    default:
        return transport->await(e->transfer, step->peer);
    }
}

static int start_remotes(cco_engine *e, int first, int end)
{
    int rc = MPI_SUCCESS;
    for (int i = first; i < end && rc == MPI_SUCCESS; i++)
        rc = start_remote(e, &e->remotes[i]);
    return rc;
}

int cco_engine_stop(cco_engine *e, int error)
{
    e->transport->abandon(e->transfer);
    e->at = e->rounds;
    return error;
}

/* Before local steps of the same round: what they take, messages are on their way. */
static int send_off(cco_engine *e)
{
    bool ended; /* the next test will say so, too */
    return e->transport->sends_in_tests ? e->transport->test(e->transfer, &ended) : MPI_SUCCESS;
}

/* Opens rounds up to one with messages or one-sided steps, or to the end. */
static int go_on(cco_engine *e)
{
    for (; e->at < e->rounds; e->at++) {
        const round *end = &e->ends[e->at];
        const round before = e->at > 0 ? end[-1] : (round){0};
        int rc = start_messages(e, before.messages, end->messages);
        if (rc == MPI_SUCCESS)
            rc = start_remotes(e, before.remotes, end->remotes);
        if (rc == MPI_SUCCESS && end->messages > before.messages && end->locals > before.locals)
            rc = send_off(e);
        if (rc == MPI_SUCCESS)
            rc = run_locals(e, before.locals, end->locals);
        if (rc != MPI_SUCCESS)
            return cco_engine_stop(e, rc);
        if (end->messages + end->remotes > before.messages + before.remotes)
            break;
    }
    return MPI_SUCCESS;
}

int cco_engine_start(cco_engine *e, const cco_binding *binding)
{
    e->binding = binding;
    e->at = 0;
    e->transport->begin(e->transfer);
    return go_on(e);
}

int cco_engine_test(cco_engine *e, bool *done)
{
    int rc = MPI_SUCCESS;
    bool ended = false;
    if (e->at < e->rounds) {
        rc = e->transport->test(e->transfer, &ended);
        if (rc != MPI_SUCCESS)
            rc = cco_engine_stop(e, rc);
    }
    if (ended) {
        e->at++;
        rc = go_on(e);
    }
    *done = e->at >= e->rounds;
    return rc;
}

int cco_engine_lost(cco_engine *e)
{
    if (e->transport->lost == NULL || e->at >= e->rounds)
        return MPI_SUCCESS;
    const int rc = e->transport->lost(e->transfer);
    return rc == MPI_SUCCESS ? rc : cco_engine_stop(e, rc);
}

const cco_transport *cco_engine_transport(const cco_engine *e)
{
    return e->transport;
}

int cco_engine_at(const cco_engine *e)
{
    return e->at;
}

int cco_engine_rounds(const cco_engine *e)
{
    return e->rounds;
}

static void visit_place(cco_write_visit *visit, void *visitor, int round, int message,
                        const place *p, const cco_layout *layouts)
{
    visit(visitor, round, message, p->base, p->at, p->count * (size_t)layouts[p->layout].extent);
}

void cco_engine_each_write(const cco_engine *e, const cco_layout *layouts, cco_write_visit *visit,
                           void *visitor)
{
    for (int i = 0; i < e->rounds; i++) {
        const round before = i > 0 ? e->ends[i - 1] : (round){0}, *end = &e->ends[i];
        for (int k = before.messages; k < end->messages; k++)
            if (!e->messages[k].sends)
                visit_place(visit, visitor, i, k - before.messages, &e->messages[k].data, layouts);
        for (int k = before.locals; k < end->locals; k++)
            visit_place(visit, visitor, i, CCO_NO_MESSAGE, &e->locals[k].to, layouts);
    }
}

bool cco_engine_tells(const cco_engine *e)
{
    return e->transport->over != NULL && (e->rounds == 0 || e->ends[e->rounds - 1].remotes == 0);
}

int cco_engine_over(cco_engine *e, int message, bool *over)
{
    const int rc = e->transport->over(e->transfer, message, over);
    return rc == MPI_SUCCESS ? rc : cco_engine_stop(e, rc);
}
