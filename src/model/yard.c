/* SPDX-License-Identifier: BSD-3-Clause */
/* yard.c - see yard.h.  Begins come from one thread at a time, flights come back from any. */
#include "model/yard.h"

#include <limits.h>
#include <stdlib.h>

#include "core/log.h"

struct cco_yard {
    MPI_Comm comm;    /* all messages of flights pass here */
    cco_comm *state;  /* NULL when the program has freed its communicator */
    int pairs;        /* of tags that flights may have */
    unsigned number;  /* of begins, equal on all ranks */
    cco_flight *idle; /* of begins */
    cco_flight *back; /* of anyone: a stack */
    int airborne;     /* flights whose messages are not over, and one for the communicator */
    int users;        /* flights that have not come back, and one for the communicator */
    int kept;         /* flights in both lists */
};

enum {
    LEAST = 16384, /* pairs of tags, for as many begins at once; every MPI that we know has more */
    KEPT = 32,     /* flights for the next begins: 10 KiB each, and their plans */
};

static const char yard_key; /* its address is the key */

cco_yard *cco_yard_of(const cco_comm *state)
{
    cco_yard **kept = cco_comm_attached(state, &yard_key);
    return kept != NULL ? *kept : NULL;
}

static void free_list(cco_flight *f)
{
    while (f != NULL) {
        cco_flight *next = f->next;
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
    free(yard);
}

static void one_less_in_the_air(cco_yard *yard)
{
    if (__atomic_sub_fetch(&yard->airborne, 1, __ATOMIC_ACQ_REL) == 0)
        PMPI_Comm_free(&yard->comm);
}

/* The program frees its communicator: ours is the yard's from now on. */
static void release(void *data)
{
    cco_yard **kept = data, *yard = *kept;
    free(kept);
    if (yard == NULL)
        return;
    yard->state->private_comm = MPI_COMM_NULL;
    one_less_in_the_air(yard);
    one_user_less(yard);
}

/* Tags beyond those of blocking calls: each flight has two. */
static int tag_pairs(void)
{
    void *value = NULL;
    int found = 0;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found) != MPI_SUCCESS || !found)
        return 0;
    const int most = *(int *)value;
    return most > CCO_P2P_LAST ? (most - CCO_P2P_LAST) / 2 : 0;
}

void cco_yard_make(cco_comm *state)
{
    if (cco_yard_of(state) != NULL || tag_pairs() < LEAST)
        return;
    const MPI_Comm comm = cco_comm_private(state);
    if (comm == MPI_COMM_NULL)
        return;
    cco_yard *yard = malloc(sizeof *yard);
    if (yard == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    *yard = (cco_yard){
        .comm = comm, .state = state, .pairs = tag_pairs(), .airborne = 1, .users = 1};
    cco_yard **kept = cco_comm_attach(state, &yard_key, sizeof(yard), release);
    *kept = yard;
}

static cco_flight *new_flight(cco_yard *yard, cco_comm *state)
{
    cco_flight *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->yard = yard;
    f->p2p = (cco_p2p){.comm = yard->comm, .last = INT_MAX};
    cco_scheduled_over(&f->own, &cco_transport_p2p, &f->p2p, state);
    f->own.hook.trace = NULL; /* it may outlive the state */
    return f;
}

cco_flight *cco_yard_leave(cco_comm *state)
{
    cco_yard *yard = cco_yard_of(state);
    if (yard->idle == NULL)
        yard->idle = __atomic_exchange_n(&yard->back, NULL, __ATOMIC_ACQUIRE);
    cco_flight *f = yard->idle;
    if (f != NULL) {
        yard->idle = f->next;
        __atomic_fetch_sub(&yard->kept, 1, __ATOMIC_RELAXED);
    } else {
        f = new_flight(yard, state);
    }
    if (f == NULL)
        return NULL;
    f->p2p.tag = CCO_P2P_LAST + 2 * (int)(yard->number++ % (unsigned)yard->pairs);
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

void cco_yard_take_back(cco_flight *f)
{
    cco_yard *yard = f->yard;
    f->next = NULL;
    if (__atomic_fetch_add(&yard->kept, 1, __ATOMIC_RELAXED) < KEPT) {
        push(yard, f);
    } else {
        __atomic_fetch_sub(&yard->kept, 1, __ATOMIC_RELAXED);
        free_list(f);
    }
    one_user_less(yard);
}

/* As of an operation without a message: an empty status. */
static int query(void *extra, MPI_Status *status)
{
    const cco_flight *f = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return f->rc;
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
