/* SPDX-License-Identifier: BSD-3-Clause */
/* observe.c - see observe.h. */
#include "observe/observe.h"

#include <string.h>

#include "config/config.h"
#include "comm/facts.h"
#include "tune/choose.h"

cco_observer_entry cco_observers[CCO_OBSERVERS] = {
#define CCO_OBSERVER(name, watched) {&cco_observer_##name, watched, 0},
#include "observe/observers.def"
#undef CCO_OBSERVER
};

int cco_observing, cco_observing_starts;

void cco_observe_switch(const cco_observer *observer, int change)
{
    for (int i = 0; i < CCO_OBSERVERS; i++)
        if (cco_observers[i].observer == observer)
            __atomic_fetch_add(&cco_observers[i].on, change, __ATOMIC_RELAXED);
    if (observer->started != NULL || observer->refuses != NULL)
        __atomic_fetch_add(&cco_observing_starts, change, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cco_observing, change, __ATOMIC_RELAXED);
}

const cco_observer *cco_observer_on(int k)
{
    static const cco_observer none;
    const cco_observer_entry *entry = &cco_observers[k];
    return __atomic_load_n(&entry->on, __ATOMIC_RELAXED) > 0 ? entry->observer : &none;
}

static const cco_rules *rules_of(int observer, int k)
{
    const cco_observer *o = cco_observer_on(observer);
    return o->rules != NULL ? o->rules(k) : NULL;
}

void cco_observe_read(void)
{
    cco_config *c = &cco_configured;
    char wrong[sizeof c->error] = "";
    bool right = true;
    for (int i = 0; i < CCO_OBSERVERS && !c->error[0]; i++)
        if (cco_observers[i].observer->read != NULL)
            right = cco_observers[i].observer->read(wrong, sizeof wrong) && right;
    if (!right)
        memcpy(c->error, wrong, sizeof wrong);
    for (int i = 0; i < CCO_OBSERVERS; i++)
        for (int k = 0; rules_of(i, k) != NULL; k++)
            cco_choose_needs(rules_of(i, k));
    cco_job.wishes = cco_job.wishes || cco_observes();
}

void cco_observe_begin(void)
{
    CCO_OBSERVE(job_begin, (cco_job.many_threads));
}

void cco_observe_last(void)
{
    if (cco_job.met)
        CCO_OBSERVE(job_last, ());
}

void cco_observe_end(void)
{
    CCO_OBSERVE(job_end, ());
}

bool cco_observe_refuses(const cco_comm *state, const char *call)
{
    for (int i = 0; i < CCO_OBSERVERS; i++) {
        const cco_observer_entry *entry = &cco_observers[i];
        if (state->watched & entry->watched && entry->observer->refuses != NULL &&
            entry->observer->refuses(state, call))
            return true;
    }
    return false;
}

bool cco_observe_may_begin(void)
{
    for (int i = 0; i < CCO_OBSERVERS; i++)
        if (cco_observer_on(i)->may_begin != NULL && cco_observer_on(i)->may_begin())
            return true;
    return false;
}

cco_ending cco_observe_operation(cco_comm *state, const cco_choice *choice, const cco_call *call)
{
    for (int i = 0; i < CCO_OBSERVERS; i++)
        if (cco_observer_on(i)->operation != NULL)
            return cco_observer_on(i)->operation(state, choice, call);
    return (cco_ending){0};
}

/* The k-th observer if it looks at this call; else one that does nothing. */
static const cco_observer *observer_of(const cco_observed *observed, int k)
{
    static const cco_observer none;
    return observed->watched & cco_observers[k].watched ? cco_observers[k].observer : &none;
}

void cco_observe_before(cco_observed *observed, cco_comm *state, const cco_call *call)
{
    *observed = (cco_observed){.watched = state->watched};
    for (int k = 0; k < CCO_OBSERVERS; k++)
        if (observer_of(observed, k)->before != NULL)
            observer_of(observed, k)->before(state, call);
}

void cco_observe_chosen(cco_observed *observed, cco_comm *state, const cco_choice *choice,
                        const cco_call *call, MPI_Count bytes)
{
    for (int k = 0; k < CCO_OBSERVERS; k++)
        if (observer_of(observed, k)->chosen != NULL)
            observed->kept[k] = observer_of(observed, k)->chosen(state, choice, call, bytes);
}

void cco_observe_after(const cco_observed *observed, cco_comm *state, const cco_call *call, int rc)
{
    for (int k = CCO_OBSERVERS - 1; k >= 0; k--)
        if (observer_of(observed, k)->after != NULL)
            observer_of(observed, k)->after(state, call, observed->kept[k], rc);
}
