/* SPDX-License-Identifier: BSD-3-Clause */
/* request_table.c - see request_table.h. */
#include "mpi/request_table.h"

#include <string.h>

typedef struct cco_request_bucket bucket;

/* Locks the bucket of a request.  Handles are small numbers in MPICH, addresses in Open MPI. */
static bucket *request_table_lock(cco_request_table *table, MPI_Request request)
{
    uint64_t bits = 0;
    memcpy(&bits, &request, sizeof request);
    bucket *b = &table->buckets[(bits * 0x9e3779b97f4a7c15u) >> 58];
    pthread_mutex_lock(&b->lock);
    return b;
}

/* The link to the entry of a request, or to the end. */
static cco_request_entry **request_table_link(bucket *b, MPI_Request request)
{
    cco_request_entry **link = &b->first;
    while (*link != NULL && (*link)->request != request)
        link = &(*link)->next;
    return link;
}

cco_request_entry *cco_request_table_put(cco_request_table *table, cco_request_entry *entry)
{
    bucket *b = request_table_lock(table, entry->request);
    cco_request_entry **link = request_table_link(b, entry->request), *old = *link;
    entry->serial = ++b->serials;
    entry->next = old != NULL ? old->next : NULL;
    *link = entry;
    pthread_mutex_unlock(&b->lock);
    return old;
}

cco_request_entry *cco_request_table_take(cco_request_table *table, MPI_Request request,
                                          uint64_t serial)
{
    bucket *b = request_table_lock(table, request);
    cco_request_entry **link = request_table_link(b, request), *found = *link;
    if (found != NULL && serial != 0 && found->serial != serial)
        found = NULL; /* of another operation, which got the handle since then */
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&b->lock);
    return found;
}

cco_request_entry *cco_request_table_find(cco_request_table *table, MPI_Request request)
{
    bucket *b = request_table_lock(table, request);
    cco_request_entry *found = *request_table_link(b, request);
    pthread_mutex_unlock(&b->lock);
    return found;
}

uint64_t cco_request_table_look(cco_request_table *table, MPI_Request request,
                                void (*look)(cco_request_entry *entry))
{
    bucket *b = request_table_lock(table, request);
    cco_request_entry *found = *request_table_link(b, request);
    const uint64_t serial = found != NULL ? found->serial : 0;
    if (found != NULL && look != NULL)
        look(found);
    pthread_mutex_unlock(&b->lock);
    return serial;
}

void cco_request_table_empty(cco_request_table *table, void (*drop)(cco_request_entry *entry))
{
    for (bucket *b = table->buckets; b < table->buckets + CCO_REQUEST_BUCKETS; b++)
        while (b->first != NULL)
            drop(cco_request_table_take(table, b->first->request, 0));
}
