/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_run.c - see engine_run.h. */
#include "sched/engine_run.h"

#include "core/pause.h"
#include "core/watch.h"
#include "core/whereabouts.h"
#include "sched/engine_parts.h"
#include "sched/engine_where.h"

/* After a test that found nothing. */
static void pause_after(const cco_engine *e, int *looks, int *tries)
{
    const cco_transport *transport = e->transport;
    enum { LONG = 1000 }; /* pauses, after which some more make no difference */
    if (cco_pause_crowds() && *tries < LONG && ++*looks < transport->looks)
        return;
    *looks = 0;
    if (cco_where_on())
        cco_engine_tell_where(e);
    if (transport->tests_mpi)
        cco_pause_after_mpi(tries);
    else
        cco_pause(tries);
}

/* Tests until it is done. */
static int wait_for(cco_engine *e)
{
    for (int tries = 0, looks = 0, at = 0;;) {
        bool done;
        int rc = cco_engine_test(e, &done);
        if (done || rc != MPI_SUCCESS)
            return rc;
        if (e->at != at) /* something came: the next wait is a new one */
            tries = looks = 0;
        at = e->at;
        pause_after(e, &looks, &tries);
        if (cco_watch_is_time(tries) && (rc = cco_engine_lost(e)) != MPI_SUCCESS)
            return rc;
    }
}

int cco_engine_run(cco_engine *e, const cco_binding *binding)
{
    const int rc = cco_engine_start(e, binding);
    return rc == MPI_SUCCESS && e->at < e->rounds ? wait_for(e) : rc;
}
