/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_run.c - see engine_run.h. */
#include "sched/engine_run.h"

#include "base/pause.h"
#include "base/watch.h"
#include "hang/whereabouts.h"
#include "sched/engine_parts.h"

/* For a roll-call (hang/whereabouts.h): which round is open, and one of those whose messages it
 * lacks. */
static void engine_run_tell_where(const cco_engine *e)
{
    cco_where_step step = {e->at, e->rounds, CCO_STAY_NOBODY, 0};
    for (const task *t = e->opened; t->kind < TASK_WAIT; t++)
        if (t->kind == TASK_RECV || (t->kind == TASK_SEND && step.peer == CCO_STAY_NOBODY))
            step.peer = t->peer;
    cco_where_wait(&step);
}

/* After a test that found nothing. */
static void engine_run_pause_after(const cco_engine *e, int *looks, int *tries)
{
    const cco_transport *transport = e->transport;
    enum { LONG = 1000 }; /* pauses, after which some more make no difference */
    if (cco_pause_crowds() && *tries < LONG && ++*looks < transport->looks)
        return;
    *looks = 0;
    if (cco_where_on())
        engine_run_tell_where(e);
    if (transport->tests_mpi)
        cco_pause_after_mpi(tries);
    else
        cco_pause(tries);
}

/* Tests until it is done. */
int cco_engine_wait(cco_engine *e)
{
    for (int tries = 0, looks = 0, at = e->at;;) {
        bool done;
        engine_run_pause_after(e, &looks, &tries);
        int rc = cco_watch_is_time(tries) ? cco_engine_lost(e) : MPI_SUCCESS;
        if (rc == MPI_SUCCESS)
            rc = cco_engine_test(e, &done);
        if (rc != MPI_SUCCESS || done)
            return rc;
        if (e->at != at) /* something came: the next wait is a new one */
            tries = looks = 0;
        at = e->at;
    }
}

void cco_engine_stay(cco_engine *e, const task *end)
{
    e->at = 0;
    e->opened = e->tasks;
    e->next = end + 1;
    for (const task *t = e->tasks; t < end; t++)
        if (t->kind == TASK_WAIT || t->kind == TASK_PASS) {
            e->at++;
            e->opened = t + 1;
        }
}

int cco_engine_run_any(cco_engine *e, const cco_binding *binding)
{
    bool done = true;
    int rc = cco_engine_start(e, binding);
    if (rc == MPI_SUCCESS && e->at < e->rounds)
        rc = cco_engine_test(e, &done);
    return rc == MPI_SUCCESS && !done ? cco_engine_wait(e) : rc;
}

int cco_engine_run(cco_engine *e, const cco_binding *binding)
{
    int (*const run)(cco_engine *, const cco_binding *) = e->transport->run;
    return run != NULL ? run(e, binding) : cco_engine_run_any(e, binding);
}
