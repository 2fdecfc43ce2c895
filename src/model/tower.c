/* SPDX-License-Identifier: BSD-3-Clause */
/* tower.c - see tower.h.  What is under way is one list, which belongs to whoever looks; begins put
 * theirs on a stack in front of it, and what has landed but not ended is on another behind it.  So
 * nobody ever waits. */
#include "model/tower.h"

#include "core/helper.h"
#include "model/yard.h"

int cco_flights_running;

static cco_flight *begun;   /* stack */
static cco_flight *running; /* list; of whoever holds `looking` */
static cco_flight *landed;  /* stack */
static bool looking;
static long due;

static void push(cco_flight **stack, cco_flight *f)
{
    f->next = __atomic_load_n(stack, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(stack, &f->next, f, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static cco_flight *take_all(cco_flight **stack)
{
    return __atomic_load_n(stack, __ATOMIC_RELAXED) != NULL
               ? __atomic_exchange_n(stack, NULL, __ATOMIC_ACQUIRE)
               : NULL;
}

void cco_flights_add(cco_flight *f)
{
    __atomic_fetch_add(&cco_flights_running, 1, __ATOMIC_ACQ_REL);
    push(&begun, f);
}

static void append(cco_flight *f)
{
    cco_flight **link = &running;
    while (*link != NULL)
        link = &(*link)->next;
    f->next = NULL;
    *link = f;
}

/* One that finds its runway taken waits behind the last there. */
static void take_in(cco_flight *f)
{
    cco_runway *runway = f->runway;
    f->behind = NULL;
    if (runway != NULL && runway->last != NULL)
        runway->last->behind = f;
    else
        append(f);
    if (runway != NULL)
        runway->last = f;
}

/* The begins since the last look, in their order, behind what is under way. */
static void adopt(void)
{
    cco_flight *stack = take_all(&begun), *list = NULL;
    while (stack != NULL) {
        cco_flight *f = stack;
        stack = f->next;
        f->next = list;
        list = f;
    }
    while (list != NULL) {
        cco_flight *f = list;
        list = f->next;
        take_in(f);
    }
}

/* Its steps are over: the next takes its runway. */
static void leave_runway(cco_flight *f)
{
    if (f->runway == NULL)
        return;
    if (f->behind != NULL)
        append(f->behind);
    else
        f->runway->last = NULL;
}

static void stop_counting(cco_flight *f)
{
    if (f->counted)
        cco_helper_count(-1, cco_flight_kind(f));
    f->counted = false;
}

/* From the completion on the flight may be under way again.  Where none is running any more, all
 * requests are complete: waits rely on that. */
static void end(cco_flight *f)
{
    const MPI_Request request = f->request;
    cco_flight_end(f);
    stop_counting(f);
    cco_yard_lands(f);
    PMPI_Grequest_complete(request);
    __atomic_fetch_sub(&cco_flights_running, 1, __ATOMIC_ACQ_REL);
}

static bool end_landed(void)
{
    cco_flight *stack = take_all(&landed);
    const bool any = stack != NULL;
    while (stack != NULL) {
        cco_flight *f = stack;
        stack = f->next;
        end(f);
    }
    return any;
}

static long sooner(long a, long b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static long next_due(void)
{
    long first = 0;
    for (const cco_flight *f = running; f != NULL; f = f->next)
        if (f->runway == NULL)
            first = sooner(first, cco_rhythm_due(&f->rhythm, f->plan));
    return first;
}

/* Looks at each in turn; what a runway brings in comes at the end of the list. */
static bool look(bool calls_mpi)
{
    bool moved = false;
    for (cco_flight **link = &running; *link != NULL;) {
        cco_flight *f = *link;
        const bool may = calls_mpi || f->runway != NULL;
        if (!may || !cco_flight_move(f, &moved)) {
            link = &f->next;
            continue;
        }
        *link = f->next;
        leave_runway(f);
        moved = true;
        if (calls_mpi) {
            end(f);
            continue;
        }
        stop_counting(f);
        push(&landed, f);
    }
    return moved;
}

bool cco_flights_move(bool calls_mpi)
{
    if (!cco_flights_any())
        return false;
    bool moved = calls_mpi && end_landed();
    if (__atomic_exchange_n(&looking, true, __ATOMIC_ACQUIRE))
        return moved;
    adopt();
    moved = look(calls_mpi) || moved;
    __atomic_store_n(&due, next_due(), __ATOMIC_RELAXED);
    __atomic_store_n(&looking, false, __ATOMIC_RELEASE);
    return moved;
}

long cco_flights_due(void)
{
    return __atomic_load_n(&due, __ATOMIC_RELAXED);
}
