/* SPDX-License-Identifier: BSD-3-Clause */
/* request_data.c - see request_data.h.  Only begins and ends that keep something come to the table.
 */
#include "split/request_data.h"

#include <stdlib.h>

#include "call/data.h"
#include "mpi/grequest.h"
#include "wait/progress_thread.h"
#include "mpi/request_table.h"

struct cco_request_data {
    cco_request_entry entry; /* first */
    cco_copies *copies;
    bool polled, holds;
    void (*finish)(void *), (*release)(void *); /* NULL: there is nothing to do */
    void *data;
};

static int entries; /* of the table */
static cco_request_table table = CCO_REQUEST_TABLE;

static void request_data_count(int change)
{
    __atomic_fetch_add(&entries, change, __ATOMIC_RELEASE);
    cco_our_requests_add(change);
}

static bool request_data_any(void)
{
    return __atomic_load_n(&entries, __ATOMIC_ACQUIRE) > 0;
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

static void request_data_finish(cco_request_entry *entry)
{
    cco_request_data *pending = (cco_request_data *)entry;
    if (pending->finish != NULL)
        pending->finish(pending->data);
    pending->finish = NULL;
}

/* Frees an entry that is in the table no more; NULL: there is none. */
static void request_data_drop(cco_request_entry *entry)
{
    if (entry != NULL)
        request_data_count(-1);
    cco_request_data_free((cco_request_data *)entry);
}

void cco_request_data_found_over(MPI_Request request)
{
    if (request_data_any() && request != MPI_REQUEST_NULL)
        cco_request_table_look(&table, request, request_data_finish);
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
        request_data_drop(cco_request_table_take(&table, request, 0));
}

/* MPIs give one handle to all calls that are complete from the start, so that here too what it
 * stood for before is over. */
void cco_request_data_add(cco_request_data *pending, bool polled, bool holds, MPI_Request request)
{
    pending->holds = holds;
    if (request == MPI_REQUEST_NULL) { /* MPICH 5, after an error that it does not report */
        cco_request_data_free(pending);
        return;
    }
    pending->entry.request = request;
    pending->polled = polled;
    if (polled)
        cco_progress_thread_count(1, CCO_PROGRESS_MPI);
    request_data_count(1);
    request_data_drop(cco_request_table_put(&table, &pending->entry));
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
        const uint64_t serial = requests[i] != MPI_REQUEST_NULL
                                    ? cco_request_table_look(&table, requests[i], NULL)
                                    : 0;
        if (serial != 0)
            list[notes->count++] = (cco_note){requests[i], serial, i};
    }
}

void cco_request_data_settle(cco_notes *notes, const MPI_Request requests[])
{
    const cco_note *list = notes->many != NULL ? notes->many : notes->few;
    for (int i = 0; i < notes->count; i++)
        if (requests[list[i].place] == MPI_REQUEST_NULL) {
            cco_request_entry *ended = cco_request_table_take(&table, list[i].request,
                                                              list[i].serial);
            if (ended != NULL)
                request_data_finish(ended);
            request_data_drop(ended);
        }
    cco_progress_thread_wait_outside_mpi();
    free(notes->many);
}

void cco_request_data_end(void)
{
    cco_request_table_empty(&table, request_data_drop);
}
