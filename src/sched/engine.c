/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - see engine.h.  Steps are sorted once, so that a start only adds addresses. */
#include "sched/engine.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/own_lines.h"
#include "sched/engine_loop.h"
#include "sched/engine_spare.h"

/* Bytes of messages that leave before their round listens.  Up to SMALL no MPI waits for the
 * receiver, and they arrive sooner.  From LARGE on every MPI asks the receiver first: where the
 * peer, which sends as much, has asked already, our question must go before our answer, since what
 * the answer lets loose there is in the way of its answer to us, and one direction would follow
 * the other.  In between, a receive that waits saves a copy. */
enum { SMALL = 512, LARGE = 128 << 10 };

/* Steps of a schedule. */
typedef struct span {
    int first, end;
} span;

static place engine_place_of(const cco_sched *s, cco_span span)
{
    const unsigned layout = offsetof(cco_binding, layouts) +
                            (unsigned)span.layout * (unsigned)sizeof(cco_layout);
    return (place){span.base, layout, span.at, span.n / s->layouts[span.layout].size};
}

static task *engine_add(cco_engine *e)
{
    return &e->tasks[e->next++ - e->tasks];
}

static void add_messages(cco_engine *e, const cco_sched *s, span steps, bool sends)
{
    for (int i = steps.first; i < steps.end; i++) {
        const cco_step *step = &s->steps[i];
        if (step->kind == (sends ? CCO_STEP_SEND : CCO_STEP_RECV))
            *engine_add(e) = (task){.kind = sends ? TASK_SEND : TASK_RECV,
                                    .peer = step->peer,
                                    .data = engine_place_of(s, sends ? step->a : step->b)};
        else
            continue;
        e->wide = e->wide || e->next[-1].data.count > INT_MAX;
    }
}

static task_kind local_kind(const cco_step *step)
{
    if (step->kind == CCO_STEP_COPY)
        return TASK_COPY;
    return step->fold || step->operation > 0 ? TASK_REDUCE_ANY : TASK_REDUCE;
}

/* A copy without gaps. */
static bool is_plain(const cco_sched *s, const cco_step *step)
{
    return step->kind == CCO_STEP_COPY && s->layouts[step->a.layout].dense &&
           s->layouts[step->b.layout].dense;
}

static void engine_add_locals(cco_engine *e, const cco_sched *s, span steps)
{
    for (int i = steps.first; i < steps.end; i++) {
        const cco_step *step = &s->steps[i];
        if (step->kind == CCO_STEP_REDUCE || step->kind == CCO_STEP_COPY)
            *engine_add(e) = (task){.kind = local_kind(step),
                                    .folds = step->fold,
                                    .word = is_plain(s, step) && step->a.n == sizeof(uint64_t),
                                    .late = is_plain(s, step) && step->a.n <= SMALL,
                                    .operation = step->operation,
                                    .data = engine_place_of(s, step->a),
                                    .to = engine_place_of(s, step->b)};
    }
}

/* Notifications go first: those of a round say nothing of its puts. */
static void add_remotes(cco_engine *e, const cco_sched *s, span steps, bool early)
{
    const cco_span nothing = {.n = 0};
    for (int i = steps.first; i < steps.end; i++) {
        const cco_step *step = &s->steps[i];
        const cco_span data = step->kind == CCO_STEP_GET ? step->b : step->a;
        const bool first = step->kind == CCO_STEP_EXPOSE || step->kind == CCO_STEP_NOTIFY;
        if (step->kind >= CCO_STEP_EXPOSE && first == early)
            *engine_add(e) = (task){.kind = TASK_REMOTE,
                                    .step = (unsigned char)step->kind,
                                    .peer = step->peer,
                                    .data = engine_place_of(s, data.n > 0 ? data : nothing),
                                    .remote = {.slot = step->slot, .where = step->place}};
    }
}

static bool sends_first(const cco_sched *s, span steps)
{
    for (int i = steps.first; i < steps.end; i++)
        if (s->steps[i].kind == CCO_STEP_SEND && s->steps[i].a.n > SMALL && s->steps[i].a.n < LARGE)
            return false;
    return true;
}

/* Returns how many steps of the round are messages or one-sided. */
static int arrange_round(cco_engine *e, const cco_sched *s, span steps)
{
    const bool sends = sends_first(s, steps);
    const task *before = e->next;
    add_messages(e, s, steps, sends);
    add_messages(e, s, steps, !sends);
    const bool messages = e->next > before;
    const task *remotes = e->next;
    add_remotes(e, s, steps, true);
    add_remotes(e, s, steps, false);
    e->remotes = e->remotes || e->next > remotes;
    const int started = (int)(e->next - before);
    task *off = messages && e->transport->sends_in_tests ? engine_add(e) : NULL;
    if (off != NULL)
        off->kind = TASK_SEND_OFF;
    engine_add_locals(e, s, steps);
    if (off != NULL && e->next == off + 1)
        e->next = off; /* there is none */
    engine_add(e)->kind = started > 0 ? TASK_WAIT : TASK_PASS;
    return started;
}

/* Who runs a whole schedule does not count rounds: so it need not pass by their ends. */
static void look_ahead(task *first)
{
    for (task *t = first; t->kind != TASK_END; t++) {
        const task *next = t + 1;
        while (next->kind == TASK_PASS)
            next++;
        t->ahead = (size_t)((const char *)next - (const char *)t);
        t->last = t->kind == TASK_WAIT && next->kind == TASK_END;
    }
}

/* Sorts the steps by rounds, and there by kind.  Returns the most messages of a round. */
static int engine_arrange(cco_engine *e, const cco_sched *s)
{
    int most = 0;
    e->next = e->tasks;
    for (int first = 0, last; first < s->count; first = last + 1) {
        last = cco_round_end(s, first);
        const int here = arrange_round(e, s, (span){first, last});
        most = here > most ? here : most;
        e->rounds++;
    }
    engine_add(e)->kind = TASK_END;
    if (e->transport->words)
        cco_engine_spare_copies(e->tasks);
    look_ahead(e->tasks);
    return most;
}

static bool is_able(const cco_transport *transport, cco_step_kind kind)
{
    return (kind != CCO_STEP_EXPOSE || transport->expose != NULL) &&
           (kind != CCO_STEP_PUT || transport->put != NULL) &&
           (kind != CCO_STEP_GET || transport->get != NULL) &&
           (kind != CCO_STEP_NOTIFY || transport->notify != NULL) &&
           (kind != CCO_STEP_AWAIT || transport->await != NULL);
}

bool cco_engine_able(const cco_sched *s, const cco_transport *transport)
{
    for (int i = 0; i < s->count; i++)
        if (!is_able(transport, s->steps[i].kind))
            return false;
    return true;
}

static int engine_go_on(cco_engine *e)
{
    return cco_engine_loop(e, e->transport);
}

/* Room for each step, for the ends of rounds, between which there are steps too, and for what comes
 * between the messages of a round and its local steps. */
static task *new_tasks(const cco_sched *s, const cco_transport *transport)
{
    size_t rounds = 1;
    for (int i = 0; i < s->count; i++)
        rounds += s->steps[i].kind == CCO_STEP_ROUND;
    return calloc((size_t)s->count + 2 + (transport->sends_in_tests ? rounds : 0), sizeof(task));
}

cco_engine *cco_engine_new(const cco_sched *s, const cco_transport *transport, void *shared)
{
    cco_engine *e = cco_engine_able(s, transport) ? cco_own_lines(sizeof *e) : NULL;
    if (e == NULL)
        return NULL;
    e->transport = transport;
    e->go_on = transport->go_on != NULL ? transport->go_on : engine_go_on;
    e->tasks = new_tasks(s, transport);
    if (e->tasks != NULL)
        e->transfer = transport->open(shared, engine_arrange(e, s));
    e->at = e->rounds;
    if (e->transfer != NULL && transport->stamp != NULL)
        transport->stamp(e->transfer, s->stamp);
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
    free(e->tasks);
    free(e);
}

int cco_engine_stop(cco_engine *e, int error)
{
    e->transport->abandon(e->transfer);
    e->at = e->rounds;
    return error;
}

static int engine_advance(cco_engine *e)
{
    const int rc = e->go_on(e);
    if (rc == MPI_SUCCESS && e->at >= e->rounds && e->transport->end != NULL)
        e->transport->end(e->transfer);
    return rc;
}

int cco_engine_start(cco_engine *e, const cco_binding *binding)
{
    e->binding = binding;
    e->at = 0;
    e->next = e->tasks;
    e->transport->begin(e->transfer);
    return engine_advance(e);
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
        rc = engine_advance(e);
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
    const size_t layout = (p->layout - offsetof(cco_binding, layouts)) / sizeof *layouts;
    visit(visitor, round, message, p->base, p->at, p->count * (size_t)layouts[layout].extent);
}

void cco_engine_each_write(const cco_engine *e, const cco_layout *layouts, cco_write_visit *visit,
                           void *visitor)
{
    int at = 0, started = 0; /* the round, and what it has started before */
    for (const task *t = e->tasks; t->kind != TASK_END; t++) {
        if (t->kind == TASK_RECV)
            visit_place(visit, visitor, at, started, &t->data, layouts);
        if (t->kind >= TASK_COPY && t->kind <= TASK_REDUCE_ANY)
            visit_place(visit, visitor, at, CCO_NO_MESSAGE, &t->to, layouts);
        started += t->kind == TASK_SEND || t->kind == TASK_RECV;
        if (t->kind == TASK_WAIT || t->kind == TASK_PASS) {
            at++;
            started = 0;
        }
    }
}

bool cco_engine_tells(const cco_engine *e)
{
    return e->transport->over != NULL && !e->remotes;
}

int cco_engine_over(cco_engine *e, int message, bool *over)
{
    const int rc = e->transport->over(e->transfer, message, over);
    return rc == MPI_SUCCESS ? rc : cco_engine_stop(e, rc);
}
