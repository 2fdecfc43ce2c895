/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - see queue.h.  Operations under way are one list, which belongs to the thread that
 * polls.  Begins push theirs on a stack in front of it; operations whose schedule is done, but
 * which a thread outside of the MPI may not end, are on another stack behind it.  So no thread
 * waits. */
#include "progress/queue.h"

#include "mpi/mpi_compat.h"
#include "wait/progress_thread.h"
#include "base/watch.h"
#include "progress/operation_pool.h"

int cco_queue_count;

static struct {
    cco_operation *begun;   /* stack */
    cco_operation *running; /* list; of the thread that set `polling` */
    cco_operation *done;    /* stack */
    bool (*also[CCO_QUEUE_KINDS])(bool calls_mpi);
    bool polling;
    long expected;
} queue;

static void queue_push(cco_operation **stack, cco_operation *o)
{
    o->next = __atomic_load_n(stack, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(stack, &o->next, o, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static cco_operation *queue_take_all(cco_operation **stack)
{
    return __atomic_load_n(stack, __ATOMIC_RELAXED) != NULL
               ? __atomic_exchange_n(stack, NULL, __ATOMIC_ACQUIRE)
               : NULL;
}

void cco_queue_add(cco_operation *o)
{
    __atomic_fetch_add(&cco_queue_count, 1, __ATOMIC_ACQ_REL);
    queue_push(&queue.begun, o);
}

static void queue_append(cco_operation *o)
{
    cco_operation **link = &queue.running;
    while (*link != NULL)
        link = &(*link)->next;
    o->next = NULL;
    *link = o;
}

/* One that finds its stream set taken waits behind the last there. */
static void take_in(cco_operation *o)
{
    cco_stream_set *stream_set = o->stream_set;
    o->behind = NULL;
    if (stream_set != NULL && stream_set->last != NULL)
        stream_set->last->behind = o;
    else
        queue_append(o);
    if (stream_set != NULL)
        stream_set->last = o;
}

/* The begins since the last poll, in their order, behind what is under way. */
static void queue_adopt(void)
{
    cco_operation *stack = queue_take_all(&queue.begun), *list = NULL;
    while (stack != NULL) {
        cco_operation *o = stack;
        stack = o->next;
        o->next = list;
        list = o;
    }
    while (list != NULL) {
        cco_operation *o = list;
        list = o->next;
        take_in(o);
    }
}

/* Its schedule is over: the next operation takes its stream set. */
static void leave_stream_set(cco_operation *o)
{
    if (o->stream_set == NULL)
        return;
    if (o->behind != NULL)
        queue_append(o->behind);
    else
        o->stream_set->last = NULL;
}

static void stop_counting(cco_operation *o)
{
    if (o->counted)
        cco_progress_thread_count(-1, o->level);
    o->counted = false;
}

/* From the completion on the operation may be under way again.  Where none is running any more, all
 * requests are complete: waits rely on that. */
static void queue_end(cco_operation *o)
{
    const MPI_Request request = o->grequest.request;
    if (o->rc != MPI_SUCCESS)
        o->rc = cco_operation_pool_cause(o->pool, o->own.unlike, o->rc);
    cco_operation_end(o);
    stop_counting(o);
    cco_operation_transport_done(o);
    PMPI_Grequest_complete(request);
    __atomic_fetch_sub(&cco_queue_count, 1, __ATOMIC_ACQ_REL);
}

static bool end_done(void)
{
    cco_operation *stack = queue_take_all(&queue.done);
    const bool any = stack != NULL;
    while (stack != NULL) {
        cco_operation *o = stack;
        stack = o->next;
        queue_end(o);
    }
    return any;
}

static long queue_sooner(long a, long b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static long next_expected(void)
{
    long first = 0;
    for (const cco_operation *o = queue.running; o != NULL; o = o->next)
        if (o->level == CCO_PROGRESS_MPI && !o->starts)
            first = queue_sooner(first, cco_round_time_expected(&o->round_time, o->plan));
    return first;
}

/* True if it has waited long, and what it waits for cannot come. */
static bool gives_up(cco_operation *o, bool calls_mpi)
{
    const int error = calls_mpi && cco_watch_is_time((int)o->idle)
                          ? cco_operation_pool_error(o->pool)
                          : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        cco_operation_give_up(o, error);
    return error != MPI_SUCCESS;
}

/* Polls each in turn; one that takes over a stream set comes at the end of the list. */
static bool queue_poll(bool calls_mpi)
{
    bool moved = false;
    for (cco_operation **link = &queue.running; *link != NULL;) {
        cco_operation *o = *link;
        const bool may = calls_mpi || o->level < CCO_PROGRESS_MPI;
        if (!may || !(cco_operation_progress(o, calls_mpi, &moved) || gives_up(o, calls_mpi))) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        leave_stream_set(o);
        moved = true;
        if (calls_mpi) {
            queue_end(o);
            continue;
        }
        stop_counting(o);
        queue_push(&queue.done, o);
    }
    return moved;
}

static bool poll_others(bool calls_mpi)
{
    bool moved = false;
    for (int i = 0; i < CCO_QUEUE_KINDS; i++) {
        bool (*poll_them)(bool) = __atomic_load_n(&queue.also[i], __ATOMIC_ACQUIRE);
        if (poll_them != NULL)
            moved = poll_them(calls_mpi) || moved;
    }
    return moved;
}

bool cco_queue_progress(bool calls_mpi)
{
    if (!cco_queue_any())
        return false;
    bool moved = calls_mpi && end_done();
    if (__atomic_exchange_n(&queue.polling, true, __ATOMIC_ACQUIRE))
        return moved;
    queue_adopt();
    moved = queue_poll(calls_mpi) || moved;
    moved = poll_others(calls_mpi) || moved;
    __atomic_store_n(&queue.expected, next_expected(), __ATOMIC_RELAXED);
    __atomic_store_n(&queue.polling, false, __ATOMIC_RELEASE);
    return moved;
}

void cco_queue_also(cco_queue_kind kind, bool (*poll_them)(bool calls_mpi))
{
    __atomic_store_n(&queue.also[kind], poll_them, __ATOMIC_RELEASE);
}

void cco_queue_count_also(int change)
{
    __atomic_fetch_add(&cco_queue_count, change, __ATOMIC_ACQ_REL);
}

long cco_queue_expected(void)
{
    return __atomic_load_n(&queue.expected, __ATOMIC_RELAXED);
}
