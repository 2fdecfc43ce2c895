/* SPDX-License-Identifier: BSD-3-Clause */
/* partial_request.c - see partial_request.h.  A table by handle, with a lock for each bucket. */
#include "progress/partial_request.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "progress/operation.h"

enum { BUCKETS = 64 };

typedef struct bucket {
    pthread_mutex_t lock;
    cco_partial_request *first;
} bucket;

static int natives; /* entries of the MPI's own calls */
static bucket table[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Handles are small numbers in MPICH, addresses in Open MPI. */
static bucket *partial_request_bucket_of(MPI_Request request)
{
    uint64_t bits = 0;
    memcpy(&bits, &request, sizeof request);
    return &table[(bits * 0x9e3779b97f4a7c15u) >> 58];
}

static cco_partial_request **link_of(bucket *b, MPI_Request request)
{
    cco_partial_request **link = &b->first;
    while (*link != NULL && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

/* Frees an entry that is in the table no more. */
static void partial_request_drop(cco_partial_request *s)
{
    if (s == NULL || s->operation != NULL)
        return;
    __atomic_fetch_sub(&natives, 1, __ATOMIC_RELAXED);
    free(s);
}

/* What is there under the same handle is over. */
static void partial_request_insert(cco_partial_request *s)
{
    bucket *b = partial_request_bucket_of(s->request);
    pthread_mutex_lock(&b->lock);
    cco_partial_request **link = link_of(b, s->request), *old = *link;
    if (old != NULL)
        *link = old->next;
    s->next = b->first;
    b->first = s;
    pthread_mutex_unlock(&b->lock);
    partial_request_drop(old);
}

cco_partial_request *cco_partial_request_find(MPI_Request request)
{
    bucket *b = partial_request_bucket_of(request);
    pthread_mutex_lock(&b->lock);
    cco_partial_request *found = *link_of(b, request);
    pthread_mutex_unlock(&b->lock);
    return found;
}

static void partial_request_take_out(cco_partial_request *s)
{
    bucket *b = partial_request_bucket_of(s->request);
    pthread_mutex_lock(&b->lock);
    cco_partial_request **link = link_of(b, s->request);
    if (*link == s)
        *link = s->next;
    pthread_mutex_unlock(&b->lock);
}

void cco_partial_request_add(cco_partial_request *s, MPI_Request request, cco_operation *operation,
                             int blocks)
{
    *s = (cco_partial_request){.request = request, .operation = operation, .blocks = blocks};
    partial_request_insert(s);
}

void cco_partial_request_remove(cco_partial_request *s)
{
    partial_request_take_out(s);
}

void cco_partial_request_over(MPI_Request request)
{
    if (__atomic_load_n(&natives, __ATOMIC_RELAXED) == 0)
        return;
    cco_partial_request *s = cco_partial_request_find(request);
    if (s == NULL || s->operation != NULL)
        return;
    partial_request_take_out(s);
    partial_request_drop(s);
}

/* The status of a request that is complete from the start is empty. */
static int partial_request_query(void *extra, MPI_Status *status)
{
    (void)extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

static int partial_request_nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int partial_request_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* Ends a request that is complete, and puts one in its place that is, too. */
static int partial_request_replace(MPI_Request *request)
{
    int rc = PMPI_Wait(request, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Grequest_start(partial_request_query, partial_request_nothing,
                                 partial_request_cancel, NULL, request);
    return rc == MPI_SUCCESS ? PMPI_Grequest_complete(*request) : rc;
}

/* An MPI may have one handle for all calls that are complete at once. */
int cco_partial_request_native(MPI_Request *request, int blocks)
{
    int over = 0, rc = PMPI_Request_get_status(*request, &over, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && over)
        rc = partial_request_replace(request);
    if (rc != MPI_SUCCESS || *request == MPI_REQUEST_NULL)
        return rc;
    cco_partial_request *s = calloc(1, sizeof *s);
    if (s == NULL) /* nobody may ask, then */
        return MPI_SUCCESS;
    *s = (cco_partial_request){.request = *request, .blocks = blocks};
    __atomic_fetch_add(&natives, 1, __ATOMIC_RELAXED);
    partial_request_insert(s);
    return MPI_SUCCESS;
}

void cco_partial_request_end(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (table[i].first != NULL) {
            cco_partial_request *s = table[i].first;
            table[i].first = s->next;
            partial_request_drop(s);
        }
}

/* Blocks that are there all at once, in their order. */
static void take_in_order(cco_partial_request *s, int most, int blocks[], int *n)
{
    while (s->told < s->blocks && *n < most)
        blocks[(*n)++] = s->told++;
}

static int take_from_native(cco_partial_request *s, int most, int blocks[], int *n)
{
    int over = 0;
    const int rc = PMPI_Request_get_status(s->request, &over, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        s->told = s->blocks;
    else if (over)
        take_in_order(s, most, blocks, n);
    return rc;
}

/* Without memory to follow them, blocks come when the operation has ended. */
static int take_landed(cco_partial_request *s, int most, int blocks[], int *n)
{
    cco_operation *o = s->operation;
    if (o->landing == NULL)
        __atomic_store_n(&o->landing, cco_block_progress_new(s->blocks), __ATOMIC_RELEASE);
    cco_block_progress *l = o->landing;
    const bool ended = __atomic_load_n(&o->ended, __ATOMIC_ACQUIRE);
    if (ended && o->rc != MPI_SUCCESS) {
        s->told = s->blocks;
        return o->rc;
    }
    if (ended && l != NULL)
        cco_block_progress_rest(l);
    if (l == NULL && ended)
        take_in_order(s, most, blocks, n);
    for (const int landed = l != NULL ? cco_block_progress_count(l) : 0;
         s->told < landed && *n < most;)
        blocks[(*n)++] = l->list[s->told++];
    return MPI_SUCCESS;
}

int cco_partial_request_take(cco_partial_request *s, int most, int blocks[], int *n)
{
    int rc = MPI_SUCCESS;
    *n = 0;
    if (s->told < s->blocks)
        rc = s->operation != NULL ? take_landed(s, most, blocks, n)
                                  : take_from_native(s, most, blocks, n);
    if (*n == 0 && s->told == s->blocks)
        *n = MPI_UNDEFINED;
    return rc;
}
