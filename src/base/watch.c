/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - see watch.h. */
#include "base/watch.h"

#include <pthread.h>
#include <stddef.h>

#include "base/clock.h"
#include "mpi/ulfm.h"

enum { EVERY_NS = 1000 * 1000, PATIENCE_NS = 500 * 1000 * 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of communicators that may end */

static bool watch_due(cco_watch *w)
{
    const long now = cco_ns(CLOCK_MONOTONIC);
    if (now < w->next)
        return false;
    w->next = now + EVERY_NS;
    return true;
}

static bool watch_gone(const cco_watch *w, int seat)
{
    const cco_peer_state *s = &w->seats[seat];
    return __atomic_load_n(&s->left, __ATOMIC_ACQUIRE) != 0 || cco_proc_ended(&s->life);
}

bool cco_watch_ended(MPI_Comm comm, int rank)
{
    const cco_proc *life = cco_proc_of(comm, rank);
    return life != NULL && cco_proc_ended(life);
}

static int watch_error_of(cco_watch *w)
{
    if (cco_ulfm_revoked(w->comm))
        return cco_ulfm_revoked_class();
    if (w->failed == 0 && cco_ulfm_first_failed(w->comm) >= 0)
        w->failed = cco_ns(CLOCK_MONOTONIC);
    return w->failed != 0 && cco_ns(CLOCK_MONOTONIC) - w->failed > PATIENCE_NS
               ? cco_ulfm_failed_class()
               : MPI_SUCCESS;
}

static int watch_error(cco_watch *w)
{
    if (!cco_ulfm())
        return MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    const int now = w->comm != MPI_COMM_NULL ? watch_error_of(w) : MPI_SUCCESS;
    pthread_mutex_unlock(&lock);
    return now;
}

static int watch_fail(const cco_watch *w, int class, int lost)
{
    if (class == MPI_SUCCESS)
        class = cco_ulfm_failed_class();
    if (w->fail != NULL)
        w->fail(w->owner, class, lost);
    return class;
}

const cco_watch_kind cco_watch_processes = {watch_due, watch_gone, watch_error, watch_fail};

void cco_watch_forget(cco_watch *w)
{
    pthread_mutex_lock(&lock);
    w->comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&lock);
}
