/* SPDX-License-Identifier: BSD-3-Clause */
/* partial_request.c - see partial_request.h. */
#include "progress/partial_request.h"

#include <stdlib.h>

#include "mpi/grequest.h"
#include "mpi/request_table.h"
#include "progress/operation.h"

static int natives; /* entries of the MPI's own calls */
static cco_request_table table = CCO_REQUEST_TABLE;

/* Frees an entry that is in the table no more; NULL: there is none. */
static void partial_request_drop(cco_request_entry *entry)
{
    cco_partial_request *s = (cco_partial_request *)entry;
    if (s == NULL || s->operation != NULL)
        return;
    __atomic_fetch_sub(&natives, 1, __ATOMIC_RELAXED);
    free(s);
}

cco_partial_request *cco_partial_request_find(MPI_Request request)
{
    return (cco_partial_request *)cco_request_table_find(&table, request);
}

/* What is there under the same handle is over. */
void cco_partial_request_add(cco_partial_request *s, MPI_Request request, cco_operation *operation,
                             int blocks)
{
    *s = (cco_partial_request){
        .entry = {.request = request}, .operation = operation, .blocks = blocks};
    partial_request_drop(cco_request_table_put(&table, &s->entry));
}

void cco_partial_request_remove(cco_partial_request *s)
{
    cco_request_table_take(&table, s->entry.request, s->entry.serial);
}

void cco_partial_request_over(MPI_Request request)
{
    if (__atomic_load_n(&natives, __ATOMIC_RELAXED) == 0)
        return;
    cco_partial_request *s = cco_partial_request_find(request);
    if (s != NULL && s->operation == NULL)
        partial_request_drop(cco_request_table_take(&table, request, s->entry.serial));
}

/* Ends a request that is complete, and puts one in its place that is, too. */
static int partial_request_replace(MPI_Request *request)
{
    int rc = PMPI_Wait(request, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = cco_grequest_empty(request);
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
    __atomic_fetch_add(&natives, 1, __ATOMIC_RELAXED);
    cco_partial_request_add(s, *request, NULL, blocks);
    return MPI_SUCCESS;
}

void cco_partial_request_end(void)
{
    cco_request_table_empty(&table, partial_request_drop);
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
    const int rc = PMPI_Request_get_status(s->entry.request, &over, MPI_STATUS_IGNORE);
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
