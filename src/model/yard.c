/* SPDX-License-Identifier: BSD-3-Clause */
/* yard.c - see yard.h.  Begins come from one thread at a time, flights come back from any. */
#include "model/yard.h"

#include <stdlib.h>

#include "core/log.h"
#include "model/tower.h"

struct cco_yard {
    cco_channel channel; /* for messages: that of the communicator, which the yard has from now on
                            if the program frees the communicator first */
    unsigned number; /* of begins on messages, equal on all ranks */
    cco_runways *runways[CCO_COURSES];
    bool asked[CCO_COURSES]; /* for runways: they are there, or never will be */
    cco_flight *idle;        /* of begins */
    cco_flight *back;        /* of anyone: a stack */
    int airborne;            /* flights whose messages are not over, and one for the communicator */
    int users;               /* flights that have not come back, and one for the communicator */
    int kept;                /* flights in both lists */
};

enum {
    KEPT = 32,         /* flights for the next begins: 10 KiB each, and their plans; */
    MEMORY = 4 << 20,  /* bytes of scratch and packed data that all of a process keep, */
    OF_ONE = 64 << 10, /* and what each may have in any case */
};

static const char yard_key; /* its address is the key */

static size_t kept_memory; /* scratch and packed data of the idle flights of this process */

static void free_list(cco_flight *f)
{
    while (f != NULL) {
        cco_flight *next = f->next;
        __atomic_sub_fetch(&kept_memory, f->kept, __ATOMIC_RELAXED);
        cco_scheduled_empty(&f->own);
        free(f);
        f = next;
    }
}

static void one_user_less(cco_yard *yard)
{
    if (__atomic_sub_fetch(&yard->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free_list(yard->idle);
    free_list(yard->back);
    for (int i = 0; i < CCO_COURSES; i++)
        cco_runways_free(yard->runways[i]);
    free(yard);
}

static void one_less_in_the_air(cco_yard *yard)
{
    if (__atomic_sub_fetch(&yard->airborne, 1, __ATOMIC_ACQ_REL) == 0)
        cco_channel_close(&yard->channel);
}

/* The program frees its communicator: flights may still be under way. */
static void release(void *data)
{
    cco_yard **kept = data, *yard = *kept;
    free(kept);
    if (yard == NULL)
        return;
    one_less_in_the_air(yard);
    one_user_less(yard);
}

/* The channel is the yard's to close, when the last flight on messages has landed. */
static cco_yard *make(cco_comm *state)
{
    cco_yard *yard = calloc(1, sizeof *yard);
    if (yard == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    yard->channel.comm = MPI_COMM_NULL;
    yard->airborne = yard->users = 1;
    cco_yard **kept = cco_comm_attach(state, &yard_key, sizeof(yard), release);
    *kept = yard;
    return yard;
}

static cco_yard *yard_of(const cco_comm *state)
{
    cco_yard **kept = cco_comm_attached(state, &yard_key);
    return kept != NULL ? *kept : NULL;
}

void cco_yard_make(cco_comm *state, cco_course course)
{
    cco_yard *yard = yard_of(state);
    if (yard == NULL)
        yard = make(state);
    if (yard->asked[course])
        return;
    yard->asked[course] = true;
    if (course > CCO_COURSE_MESSAGES)
        yard->runways[course] = cco_runways_make(state, course);
    else if (!cco_channel_open(&yard->channel, state->comm))
        yard->channel.comm = MPI_COMM_NULL;
}

bool cco_yard_has(const cco_comm *state, cco_course course)
{
    const cco_yard *yard = yard_of(state);
    if (yard == NULL)
        return false;
    if (course > CCO_COURSE_MESSAGES)
        return yard->runways[course] != NULL;
    return yard->channel.comm != MPI_COMM_NULL && yard->channel.pairs != 0;
}

static cco_flight *new_flight(cco_yard *yard, cco_comm *state, cco_runway *runway)
{
    cco_flight *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->yard = yard;
    f->runway = runway;
    f->p2p = (cco_p2p){.comm = yard->channel.comm, .last = 1, .broken = &yard->channel.broken};
    if (runway != NULL)
        cco_scheduled_over(&f->own, &cco_transport_stream, &runway->stream, state);
    else
        cco_scheduled_over(&f->own, &cco_transport_p2p, &f->p2p, state);
    f->own.hook.trace = NULL; /* it may outlive the state */
    return f;
}

static void join(cco_flight **list, cco_flight *more)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = more;
}

/* One that has ended on this runway, or on messages: its schedules are for there.  NULL if there is
 * none. */
static cco_flight *take_idle(cco_yard *yard, const cco_runway *runway)
{
    if (__atomic_load_n(&yard->back, __ATOMIC_RELAXED) != NULL)
        join(&yard->idle, __atomic_exchange_n(&yard->back, NULL, __ATOMIC_ACQUIRE));
    cco_flight **link = &yard->idle;
    while (*link != NULL && (*link)->runway != runway)
        link = &(*link)->next;
    cco_flight *f = *link;
    if (f == NULL)
        return NULL;
    *link = f->next;
    __atomic_fetch_sub(&yard->kept, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&kept_memory, f->kept, __ATOMIC_RELAXED);
    f->kept = 0;
    return f;
}

cco_flight *cco_yard_leave(cco_comm *state, cco_course course)
{
    cco_yard *yard = yard_of(state);
    cco_runways *runways = yard->runways[course];
    cco_runway *runway = runways != NULL ? cco_runway_next(runways) : NULL;
    cco_flight *f = take_idle(yard, runway);
    if (f == NULL)
        f = new_flight(yard, state, runway);
    if (f == NULL)
        return NULL;
    if (runway == NULL) {
        f->p2p.first = yard->channel.pairs + 2 * (int)(yard->number++ % CCO_CHANNEL_PAIRS);
        f->p2p.tag = 0; /* as on the other ranks, where it may be another flight */
    }
    __atomic_fetch_add(&yard->users, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&yard->airborne, 1, __ATOMIC_ACQ_REL);
    return f;
}

void cco_yard_lands(cco_flight *f)
{
    one_less_in_the_air(f->yard);
}

static void push(cco_yard *yard, cco_flight *f)
{
    f->next = __atomic_load_n(&yard->back, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&yard->back, &f->next, f, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

/* A few large calls under way at once, and then no more, must not keep their memory for ever. */
static void keep_memory(cco_flight *f)
{
    const size_t n = cco_workshop_bytes(&f->own.shop);
    f->kept = n > OF_ONE ? n : 0;
    if (f->kept == 0 || __atomic_add_fetch(&kept_memory, n, __ATOMIC_RELAXED) <= MEMORY)
        return;
    cco_workshop_empty(&f->own.shop);
    __atomic_sub_fetch(&kept_memory, f->kept, __ATOMIC_RELAXED);
    f->kept = 0;
}

void cco_yard_take_back(cco_flight *f)
{
    cco_yard *yard = f->yard;
    f->next = NULL;
    keep_memory(f);
    if (__atomic_fetch_add(&yard->kept, 1, __ATOMIC_RELAXED) < KEPT) {
        push(yard, f);
    } else {
        __atomic_fetch_sub(&yard->kept, 1, __ATOMIC_RELAXED);
        free_list(f);
    }
    one_user_less(yard);
}

static _Thread_local MPI_Request hushed; /* 0 is none of ours in either MPI */

void cco_yard_hush(MPI_Request request)
{
    hushed = request;
}

/* As of an operation without a message: an empty status. */
static int query(void *extra, MPI_Status *status)
{
    const cco_flight *f = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return hushed == f->request ? MPI_SUCCESS : f->rc;
}

static int give_back(void *extra)
{
    cco_yard_take_back(extra);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int cco_yard_request(cco_flight *f, MPI_Request *request)
{
    const int rc = PMPI_Grequest_start(query, give_back, cancel, f, request);
    f->request = *request;
    return rc;
}
