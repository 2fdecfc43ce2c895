/* SPDX-License-Identifier: BSD-3-Clause */
/* exchanges.c - see exchanges.h. */
#include "progress/exchanges.h"

#include <stdlib.h>

#include "core/failure.h"
#include "core/log.h"

enum { KEPT = 64 << 10 }; /* bytes of memory that stay for the next exchange */

static const char exchanges_key; /* its address is the key */

static int phase_of(const cco_exchange_call *c)
{
    return __atomic_load_n(&c->phase, __ATOMIC_ACQUIRE);
}

static void free_call(cco_exchange_call *c)
{
    if (c != NULL)
        cco_exchange_free(&c->x);
    free(c);
}

/* With the lock. */
static void unlink_call(cco_exchange_call *c)
{
    cco_exchange_call **link = &c->of->oldest;
    while (*link != c)
        link = &(*link)->later;
    *link = c->later;
}

static void keep_or_free(cco_exchange_call *c)
{
    cco_exchanges *all = c->of;
    unlink_call(c);
    if (all->idle != NULL || all->closed) {
        free_call(c);
        return;
    }
    cco_exchange_trim(&c->x, KEPT);
    all->idle = c;
}

static void drop_ended(cco_exchanges *all)
{
    for (cco_exchange_call *c = all->oldest, *later; c != NULL; c = later) {
        later = c->later;
        if (phase_of(c) == CCO_EXCHANGE_ENDED)
            keep_or_free(c);
    }
}

static void exchanges_one_user_less(cco_exchanges *all)
{
    if (__atomic_sub_fetch(&all->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free_call(all->idle);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static void exchanges_one_less_in_flight(cco_exchanges *all)
{
    if (__atomic_sub_fetch(&all->in_flight, 1, __ATOMIC_ACQ_REL) == 0)
        cco_channel_close(&all->channel);
}

/* The program frees its communicator. */
static void exchanges_release(void *data)
{
    cco_exchanges **attached = data, *all = *attached;
    free(attached);
    if (all == NULL)
        return;
    cco_watch_forget(&all->watch);
    pthread_mutex_lock(&all->lock);
    all->closed = true;
    drop_ended(all);
    pthread_mutex_unlock(&all->lock);
    exchanges_one_less_in_flight(all);
    exchanges_one_user_less(all);
}

void cco_exchanges_fail(cco_exchanges *all, int error, int lost)
{
    int none = MPI_SUCCESS;
    if (__atomic_load_n(&all->error, __ATOMIC_ACQUIRE) != MPI_SUCCESS)
        return;
    all->lost = lost;
    __atomic_compare_exchange_n(&all->error, &none, error, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    cco_channel_fail(&all->channel, error);
}

static void exchanges_fail(void *owner, int error, int lost)
{
    cco_exchanges_fail(owner, error, lost);
}

/* The communicator has found it out. */
static void exchanges_leave(void *what, int error)
{
    cco_exchanges_fail(what, error, -1);
}

int cco_exchanges_error(const cco_exchanges *all, int *lost)
{
    const int error = __atomic_load_n(&all->error, __ATOMIC_ACQUIRE);
    *lost = error != MPI_SUCCESS ? all->lost : -1;
    return error;
}

static cco_exchanges *exchanges_make(cco_comm *state)
{
    cco_exchanges *all = calloc(1, sizeof *all);
    if (all == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for exchanges on communicator '%s'", state->name);
    if (!cco_channel_open(&all->channel, state->comm)) {
        free(all);
        return NULL;
    }
    pthread_mutex_init(&all->lock, NULL);
    all->users = all->in_flight = 1;
    all->watch = (cco_watch){&cco_watch_processes, state->comm, .fail = exchanges_fail,
                             .owner = all};
    cco_comm_on_failure(state, exchanges_leave, all);
    return all;
}

cco_exchanges *cco_exchanges_of(cco_comm *state)
{
    cco_exchanges **attached = cco_comm_attached(state, &exchanges_key);
    if (attached == NULL)
        attached = cco_comm_attach(state, &exchanges_key, sizeof *attached, exchanges_release);
    if (*attached == NULL)
        *attached = exchanges_make(state);
    return *attached;
}

cco_exchange_call *cco_exchanges_next(cco_exchanges *all)
{
    __atomic_fetch_add(&all->users, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&all->in_flight, 1, __ATOMIC_ACQ_REL);
    pthread_mutex_lock(&all->lock);
    drop_ended(all);
    cco_exchange_call *c = all->idle, **link = &all->oldest;
    all->idle = NULL;
    if (c == NULL && (c = calloc(1, sizeof *c)) == NULL)
        cco_fatal("CRESTA_Exchange: no memory"); /* the others wait for this rank */
    const cco_exchange x = c->x;
    *c = (cco_exchange_call){
        .of = all, .x = x, .number = all->begun++, .grequest = {.request = MPI_REQUEST_NULL}};
    while (*link != NULL)
        link = &(*link)->later;
    *link = c;
    pthread_mutex_unlock(&all->lock);
    return c;
}

void cco_exchange_transport_done(cco_exchange_call *c)
{
    exchanges_one_less_in_flight(c->of);
}

void cco_exchange_end(cco_exchange_call *c)
{
    cco_exchanges *all = c->of;
    pthread_mutex_lock(&all->lock);
    __atomic_store_n(&c->phase, CCO_EXCHANGE_ENDED, __ATOMIC_RELEASE);
    if (all->closed)
        keep_or_free(c);
    pthread_mutex_unlock(&all->lock);
    exchanges_one_user_less(all);
}

cco_exchange_call *cco_exchanges_ended(const cco_comm *state, const int *sources)
{
    cco_exchanges **attached = cco_comm_attached(state, &exchanges_key);
    cco_exchanges *all = attached != NULL ? *attached : NULL;
    if (all == NULL)
        return NULL;
    pthread_mutex_lock(&all->lock);
    cco_exchange_call *c = all->oldest;
    while (c != NULL &&
           (phase_of(c) != CCO_EXCHANGE_ENDED || (sources != NULL && c->sources != sources)))
        c = c->later;
    pthread_mutex_unlock(&all->lock);
    return c;
}

void cco_exchange_drop(cco_exchange_call *c)
{
    cco_exchanges *all = c->of;
    pthread_mutex_lock(&all->lock);
    keep_or_free(c);
    pthread_mutex_unlock(&all->lock);
}
