/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_calls.c - see exchange_calls.h.  Exchanges under way in this process are a list that
 * belongs to the thread that polls; begins push theirs on a stack in front of it, as in
 * progress/queue.c. */
#include "progress/exchange_calls.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "mpi/dup_bare.h"
#include "core/log.h"
#include "core/pause.h"
#include "core/progress_thread.h"
#include "mpi/ulfm.h"
#include "progress/queue.h"

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
    cco_exchanges_fail(c->of, exchange_calls_cause(c->of, rc), -1);
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
