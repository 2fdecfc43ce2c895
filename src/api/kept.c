/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c - see kept.h.  A table by handle, with a lock for each bucket: only begins and ends that
 * keep something come here. */
#include "api/kept.h"

#include "api/async.h"
#include "core/data.h"
#include "core/helper.h"
#include "core/log.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 64 };

typedef struct bucket {
    pthread_mutex_t lock;
    cco_kept *first;
} bucket;

int cco_kept_count;
static bucket table[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static void count(int change)
{
    __atomic_fetch_add(&cco_kept_count, change, __ATOMIC_RELEASE);
}

/* Handles are small numbers in MPICH, addresses in Open MPI. */
static bucket *bucket_of(MPI_Request request)
{
    uint64_t bits = 0;
    memcpy(&bits, &request, sizeof request);
    return &table[(bits * 0x9e3779b97f4a7c15u) >> 58];
}

static void insert(cco_kept *kept)
{
    static uint64_t serials;
    bucket *b = bucket_of(kept->request);
    kept->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&b->lock);
    kept->next = b->first;
    b->first = kept;
    pthread_mutex_unlock(&b->lock);
    count(1);
}

/* The link to what is kept for a request, or to the end; its bucket is locked. */
static cco_kept **find(bucket *b, MPI_Request request)
{
    cco_kept **link = &b->first;
    while (*link != NULL && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

/* `serial` 0: whatever there is. */
static cco_kept *take_out(MPI_Request request, uint64_t serial)
{
    bucket *b = bucket_of(request);
    pthread_mutex_lock(&b->lock);
    cco_kept **link = find(b, request), *found = *link;
    if (found != NULL && serial != 0 && found->serial != serial)
        found = NULL; /* of another operation, which got the handle since then */
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&b->lock);
    if (found != NULL)
        count(-1);
    return found;
}

static uint64_t serial_of(MPI_Request request)
{
    bucket *b = bucket_of(request);
    pthread_mutex_lock(&b->lock);
    const cco_kept *found = *find(b, request);
    const uint64_t serial = found != NULL ? found->serial : 0;
    pthread_mutex_unlock(&b->lock);
    return serial;
}

void cco_kept_free(cco_kept *kept)
{
    if (kept == NULL)
        return;
    if (kept->counted)
        cco_helper_count(-1, CCO_HELP_MPI);
    if (kept->holds)
        cco_helper_hold(-1);
    free(kept->send);
    free(kept->types[0]);
    free(kept->types[1]);
    free(kept->counts);
    cco_held_free(kept->held);
    free(kept);
}

bool cco_kept_hold(const cco_call *call)
{
    if (!cco_helper_wary() || !(cco_coll_infos[call->coll].properties & CCO_REDUCTION) ||
        cco_op_predefined(call->op))
        return false;
    cco_helper_hold(1);
    return true;
}

/* MPIs give one handle to all operations that are complete from the start, so that here too what it
 * stood for before is over. */
void cco_kept_add(cco_kept *kept, cco_kept_kind kind, bool holds, MPI_Request request)
{
    if (cco_kept_any())
        cco_kept_free(take_out(request, 0));
    if (kept == NULL && (cco_async() || kind == CCO_KEPT_OURS))
        kept = calloc(1, sizeof *kept);
    if (kept == NULL && kind == CCO_KEPT_OURS)
        cco_fatal("no memory for a request"); /* MPI_Wait would not know that it is ours */
    if (kept == NULL)
        return;
    kept->holds = holds;
    if (request == MPI_REQUEST_NULL) { /* MPICH 5, after an error that it does not report */
        cco_kept_free(kept);
        return;
    }
    kept->request = request;
    kept->counted = kind == CCO_KEPT_MPIS && cco_async(); /* flights count themselves */
    if (kept->counted)
        cco_helper_count(1, CCO_HELP_MPI);
    insert(kept);
}

void cco_kept_note(cco_notes *notes, int count, const MPI_Request requests[])
{
    *notes = (cco_notes){.count = 0};
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

void cco_kept_settle(cco_notes *notes, const MPI_Request requests[])
{
    const cco_note *list = notes->many != NULL ? notes->many : notes->few;
    for (int i = 0; i < notes->count; i++)
        if (requests[list[i].place] == MPI_REQUEST_NULL)
            cco_kept_free(take_out(list[i].request, list[i].serial));
    if (notes->count > 0)
        cco_helper_let_out();
    free(notes->many);
}

void cco_kept_end(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (table[i].first != NULL)
            cco_kept_free(take_out(table[i].first->request, 0));
}
