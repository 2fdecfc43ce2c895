/* SPDX-License-Identifier: BSD-3-Clause */
/* request_data.c - see request_data.h.  A table by handle, with a lock for each bucket: only begins
 * and ends that keep something come here. */
#include "api/request_data.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "core/our_requests.h"
#include "core/progress_thread.h"

enum { BUCKETS = 64 };

struct cco_request_data {
    MPI_Request request;
    uint64_t serial;        /* no two have the same; 0 is none */
    cco_request_data *next; /* of its bucket */
    cco_copies *copies;
    bool polled, holds;
    void (*finish)(void *), (*release)(void *); /* NULL: there is nothing to do */
    void *data;
};

typedef struct bucket {
    pthread_mutex_t lock;
    cco_request_data *first;
} bucket;

static int entries; /* of the table */
static bucket table[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static void request_data_count(int change)
{
    __atomic_fetch_add(&entries, change, __ATOMIC_RELEASE);
    cco_our_requests_add(change);
}

static bool request_data_any(void)
{
    return __atomic_load_n(&entries, __ATOMIC_ACQUIRE) > 0;
}

/* Handles are small numbers in MPICH, addresses in Open MPI. */
static bucket *request_data_bucket_of(MPI_Request request)
{
    uint64_t bits = 0;
    memcpy(&bits, &request, sizeof request);
    return &table[(bits * 0x9e3779b97f4a7c15u) >> 58];
}

static void request_data_insert(cco_request_data *pending)
{
    static uint64_t serials;
    bucket *b = request_data_bucket_of(pending->request);
    pending->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&b->lock);
    pending->next = b->first;
    b->first = pending;
    pthread_mutex_unlock(&b->lock);
    request_data_count(1);
}

/* The link to what is kept for a request, or to the end; its bucket is locked. */
static cco_request_data **request_data_find(bucket *b, MPI_Request request)
{
    cco_request_data **link = &b->first;
    while (*link != NULL && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

/* `serial` 0: whatever there is. */
static cco_request_data *request_data_take_out(MPI_Request request, uint64_t serial)
{
    bucket *b = request_data_bucket_of(request);
    pthread_mutex_lock(&b->lock);
    cco_request_data **link = request_data_find(b, request), *found = *link;
    if (found != NULL && serial != 0 && found->serial != serial)
        found = NULL; /* of another operation, which got the handle since then */
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&b->lock);
    if (found != NULL)
        request_data_count(-1);
    return found;
}

static uint64_t serial_of(MPI_Request request)
{
    bucket *b = request_data_bucket_of(request);
    pthread_mutex_lock(&b->lock);
    const cco_request_data *found = *request_data_find(b, request);
    const uint64_t serial = found != NULL ? found->serial : 0;
    pthread_mutex_unlock(&b->lock);
    return serial;
}

void cco_request_data_free(cco_request_data *pending)
{
    if (pending == NULL)
        return;
    if (pending->polled)
        cco_progress_thread_count(-1, CCO_PROGRESS_MPI);
    if (pending->holds)
        cco_progress_thread_hold(-1);
    cco_copies_free(pending->copies);
    if (pending->release != NULL)
        pending->release(pending->data);
    free(pending);
}

void cco_request_data_finishes(cco_request_data *pending, void (*finish)(void *),
                               void (*release)(void *), void *data)
{
    pending->finish = finish;
    pending->release = release;
    pending->data = data;
}

static void request_data_finish(cco_request_data *pending)
{
    if (pending != NULL && pending->finish != NULL)
        pending->finish(pending->data);
    if (pending != NULL)
        pending->finish = NULL;
}

void cco_request_data_found_over(MPI_Request request)
{
    if (!request_data_any() || request == MPI_REQUEST_NULL)
        return;
    bucket *b = request_data_bucket_of(request);
    pthread_mutex_lock(&b->lock);
    request_data_finish(*request_data_find(b, request));
    pthread_mutex_unlock(&b->lock);
}

bool cco_request_data_hold(const cco_call *call)
{
    if (!cco_progress_thread_runs_no_ops() ||
        !(cco_coll_infos[call->coll].properties & CCO_REDUCTION) || cco_op_predefined(call->op))
        return false;
    cco_progress_thread_hold(1);
    return true;
}

cco_request_data *cco_request_data_make(cco_copies *copies)
{
    cco_request_data *pending = calloc(1, sizeof *pending);
    if (pending != NULL)
        pending->copies = copies;
    return pending;
}

void cco_request_data_over(MPI_Request request)
{
    if (request_data_any())
        cco_request_data_free(request_data_take_out(request, 0));
}

/* MPIs give one handle to all calls that are complete from the start, so that here too what it
 * stood for before is over. */
void cco_request_data_add(cco_request_data *pending, bool polled, bool holds, MPI_Request request)
{
    cco_request_data_over(request);
    pending->holds = holds;
    if (request == MPI_REQUEST_NULL) { /* MPICH 5, after an error that it does not report */
        cco_request_data_free(pending);
        return;
    }
    pending->request = request;
    pending->polled = polled;
    if (polled)
        cco_progress_thread_count(1, CCO_PROGRESS_MPI);
    request_data_insert(pending);
}

void cco_request_data_note(cco_notes *notes, int count, const MPI_Request requests[])
{
    notes->count = 0;
    notes->many = NULL;
    if (!request_data_any())
        return;
    if (count > CCO_NOTES_FEW)
        notes->many = malloc((size_t)count * sizeof *notes->many);
    cco_note *list = notes->many != NULL ? notes->many : notes->few;
    const int room = notes->many != NULL ? count : CCO_NOTES_FEW;
    for (int i = 0; requests != NULL && i < count && notes->count < room; i++) {
        const uint64_t serial = requests[i] != MPI_REQUEST_NULL ? serial_of(requests[i]) : 0;
        if (serial != 0)
            list[notes->count++] = (cco_note){requests[i], serial, i};
    }
}

void cco_request_data_settle(cco_notes *notes, const MPI_Request requests[])
{
    const cco_note *list = notes->many != NULL ? notes->many : notes->few;
    for (int i = 0; i < notes->count; i++)
        if (requests[list[i].place] == MPI_REQUEST_NULL) {
            cco_request_data *ended = request_data_take_out(list[i].request, list[i].serial);
            request_data_finish(ended);
            cco_request_data_free(ended);
        }
    cco_progress_thread_wait_outside_mpi();
    free(notes->many);
}

void cco_request_data_end(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (table[i].first != NULL)
            cco_request_data_free(request_data_take_out(table[i].first->request, 0));
}
