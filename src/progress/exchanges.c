/* SPDX-License-Identifier: BSD-3-Clause */
/* exchanges.c - see exchanges.h.  Exchanges under way in this process are a list that belongs to
 * the thread that polls; begins push theirs on a stack in front of it, as in progress/queue.c. */
#include "progress/exchanges.h"

#include <stdlib.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "comm/failure.h"
#include "base/log.h"
#include "call/data.h"
#include "mpi/dup_bare.h"
#include "base/pause.h"
#include "wait/progress_thread.h"
#include "mpi/ulfm.h"
#include "progress/queue.h"

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

static void exchanges_fail(void *owner, int error, int lost)
{
    cco_exchanges *all = owner;
    int none = MPI_SUCCESS;
    if (__atomic_load_n(&all->error, __ATOMIC_ACQUIRE) != MPI_SUCCESS)
        return;
    all->lost = lost;
    __atomic_compare_exchange_n(&all->error, &none, error, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    cco_channel_fail(&all->channel, error);
}

/* The communicator has found it out. */
static void exchanges_leave(void *what, int error)
{
    exchanges_fail(what, error, -1);
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

static cco_exchange_call *begun;   /* stack */
static cco_exchange_call *running; /* list; of the thread that polls */

/* One memory for the three lists.  A type that the MPI cannot copy is an error of this rank. */
static void exchange_calls_copy(cco_exchange_call *c)
{
    cco_exchange_sends *s = &c->sends;
    const size_t n = (size_t)s->count;
    int *lists = malloc(3 * n * sizeof *lists + 1);
    if (lists == NULL)
        cco_fatal("CRESTA_Exchange_begin: no memory for %d destinations", s->count);
    if (n > 0) {
        memcpy(lists, s->counts, n * sizeof *lists);
        memcpy(lists + n, s->displs, n * sizeof *lists);
        memcpy(lists + 2 * n, s->destinations, n * sizeof *lists);
        if (!cco_type_predefined(s->type) && cco_type_dup_bare(s->type, &s->type) != MPI_SUCCESS) {
            c->error = MPI_ERR_TYPE;
            s->count = 0;
        }
    }
    s->counts = lists;
    s->displs = lists + n;
    s->destinations = lists + 2 * n;
    c->copies = lists;
}

static void drop_copies(cco_exchange_call *c)
{
    if (c->copies != NULL && c->sends.count > 0 && !cco_type_predefined(c->sends.type))
        PMPI_Type_free(&c->sends.type);
    free(c->copies);
    c->copies = NULL;
    c->sends.count = 0;
}

/* The class of an error of the MPI, which means that this rank takes part in no more of them. */
static int exchange_calls_cause(cco_exchanges *all, int error)
{
    int class = MPI_ERR_OTHER;
    PMPI_Error_class(error, &class);
    const bool failure = cco_ulfm_class(error) != MPI_SUCCESS ||
                         (cco_ulfm() && class == MPI_ERR_IN_STATUS);
    if (!failure)
        return class;
    all->watch.next = 0;
    return cco_watch_error(&all->watch) == cco_ulfm_revoked_class() ? cco_ulfm_revoked_class()
                                                                    : cco_ulfm_failed_class();
}

/* In a long wait: whether what it waits for can still come. */
static int exchange_calls_look_around(cco_exchange_call *c, bool moved)
{
    enum { MANY = 1 << 20 };
    c->idle = moved ? 0 : c->idle < MANY ? c->idle + 1 : c->idle - 8;
    return cco_watch_is_time((int)c->idle)
               ? cco_exchange_lost(&c->x, &c->of->watch, &c->of->channel)
               : MPI_SUCCESS;
}

/* A send that does not start is this rank's affair: it goes on, and says so at the end.  Where the
 * process that it was for has failed, those that have started are given up. */
static int exchange_calls_run(cco_exchange_call *c)
{
    const int tag = cco_channel_exchange(&c->of->channel);
    if (tag < 0)
        return MPI_ERR_OTHER;
    cco_exchange_reset(&c->x, c->of->channel.comm, tag);
    c->runs = true;
    const int rc = cco_exchange_send(&c->x, &c->sends);
    if (rc != MPI_SUCCESS && cco_ulfm_class(rc) != MPI_SUCCESS)
        return rc;
    if (rc != MPI_SUCCESS && c->error == MPI_SUCCESS)
        PMPI_Error_class(rc, &c->error);
    drop_copies(c);
    return MPI_SUCCESS;
}

/* True at its end. */
static bool exchange_calls_move(cco_exchange_call *c, bool *moved)
{
    bool went_on = false, over = false;
    int lost, rc = cco_exchanges_error(c->of, &lost);
    if (c->number != c->of->done)
        return false;
    if (rc == MPI_SUCCESS && !c->runs)
        rc = exchange_calls_run(c);
    if (rc == MPI_SUCCESS)
        rc = cco_exchange_test(&c->x, &went_on, &over);
    if (rc == MPI_SUCCESS && !over)
        rc = exchange_calls_look_around(c, went_on);
    *moved = *moved || went_on;
    if (rc == MPI_SUCCESS)
        return over;
    exchanges_fail(c->of, exchange_calls_cause(c->of, rc), -1);
    c->error = cco_exchanges_error(c->of, &lost);
    if (c->runs && !c->x.sent) /* the MPI may still read it */
        c->copied = NULL;
    if (c->runs)
        cco_exchange_abandon(&c->x);
    return true;
}

/* Says what has come, also to a rank whose call was wrong: it can take it.  MPI_ERR_COUNT if an int
 * cannot count the elements.  Without a type nobody can, and what came is dropped. */
static void exchange_calls_tell(cco_exchange_call *c)
{
    const size_t n = c->element > 0 ? c->x.bytes / c->element : 0;
    if (c->error != MPI_SUCCESS && c->element == 0)
        c->x.came = 0;
    *c->sources = c->x.came;
    *c->elements = n <= INT_MAX ? (int)n : 0;
    if (c->error == MPI_SUCCESS && n > INT_MAX)
        c->error = MPI_ERR_COUNT;
}

/* From the completion on it may be the program's again. */
static void exchange_calls_finish(cco_exchange_call *c)
{
    const MPI_Request request = c->grequest.request;
    if (!c->runs)
        c->x.came = 0;
    cco_exchange_sort(&c->x);
    exchange_calls_tell(c);
    drop_copies(c);
    free(c->copied);
    c->copied = NULL;
    cco_exchange_trim(&c->x, SIZE_MAX);
    c->of->done++;
    cco_exchange_transport_done(c);
    if (request != MPI_REQUEST_NULL)
        cco_progress_thread_count(-1, CCO_PROGRESS_MPI);
    __atomic_store_n(&c->phase, CCO_EXCHANGE_DONE, __ATOMIC_RELEASE);
    if (request != MPI_REQUEST_NULL)
        PMPI_Grequest_complete(request);
    cco_queue_count_also(-1);
}

/* Behind those that were begun before: `begun` has the last first. */
static void exchange_calls_adopt(void)
{
    cco_exchange_call *stack = __atomic_load_n(&begun, __ATOMIC_RELAXED) != NULL
                                   ? __atomic_exchange_n(&begun, NULL, __ATOMIC_ACQUIRE)
                                   : NULL;
    cco_exchange_call **link = &running, *list = NULL;
    while (stack != NULL) {
        cco_exchange_call *c = stack;
        stack = c->next;
        c->next = list;
        list = c;
    }
    while (*link != NULL)
        link = &(*link)->next;
    *link = list;
}

/* By the one thread that polls. */
static bool exchange_calls_poll_all(bool calls_mpi)
{
    bool moved = false;
    if (!calls_mpi)
        return false;
    exchange_calls_adopt();
    for (cco_exchange_call **link = &running; *link != NULL;) {
        cco_exchange_call *c = *link;
        if (!exchange_calls_move(c, &moved)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        exchange_calls_finish(c);
        moved = true;
    }
    return moved;
}

static void exchange_calls_push(cco_exchange_call *c)
{
    cco_queue_also(CCO_QUEUE_EXCHANGES, exchange_calls_poll_all);
    cco_queue_count_also(1);
    c->next = __atomic_load_n(&begun, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(&begun, &c->next, c, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void exchange_calls_give_back(void *what)
{
    cco_exchange_end(what);
}

void cco_exchange_start(cco_exchange_call *c, MPI_Request *request)
{
    exchange_calls_copy(c);
    c->grequest = (cco_grequest){.rc = &c->error, .ended = exchange_calls_give_back, .what = c};
    cco_grequest_start(&c->grequest, request);
    cco_progress_thread_count(1, CCO_PROGRESS_MPI);
    exchange_calls_push(c);
    cco_queue_progress(true);
}

int cco_exchange_wait(cco_exchange_call *c)
{
    int tries = 0;
    exchange_calls_push(c);
    while (__atomic_load_n(&c->phase, __ATOMIC_ACQUIRE) == CCO_EXCHANGE_BEGUN) {
        if (cco_queue_progress(true))
            tries = 0;
        else
            cco_pause(&tries);
        cco_progress_thread_spare();
    }
    const int error = c->error;
    cco_exchange_end(c);
    return error;
}
