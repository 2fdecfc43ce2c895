/* SPDX-License-Identifier: BSD-3-Clause */
/* request_table.h - entries by request, with a lock for each bucket.
 *
 * The MPI gives a handle anew when its request has ended, and some MPIs give one handle to all
 * calls that are complete from the start: so a handle has one entry, and a serial number tells
 * whether it is still the one that was there. */
#ifndef CCO_REQUEST_TABLE_H
#define CCO_REQUEST_TABLE_H

#include <pthread.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"

/* The head of what the table's owner keeps for a request. */
typedef struct cco_request_entry {
    MPI_Request request;
    uint64_t serial; /* no two of a handle have the same; 0 is none */
    struct cco_request_entry *next;
} cco_request_entry;

enum { CCO_REQUEST_BUCKETS = 64 };
typedef struct cco_request_table {
    struct cco_request_bucket {
        pthread_mutex_t lock;
        uint64_t serials; /* so far */
        cco_request_entry *first;
    } buckets[CCO_REQUEST_BUCKETS];
} cco_request_table;

#define CCO_REQUEST_TABLE                                                                          \
    {                                                                                              \
        .buckets = { [0 ... CCO_REQUEST_BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER} }       \
    }

/* Puts in an entry whose `request` is set.  Returns the one that it replaces, or NULL. */
cco_request_entry *cco_request_table_put(cco_request_table *table, cco_request_entry *entry);

/* Takes out the entry of a request, if it has this serial number; 0: whatever there is.  NULL if it
 * is not there. */
cco_request_entry *cco_request_table_take(cco_request_table *table, MPI_Request request,
                                          uint64_t serial);

/* The entry of a request, which the caller knows to stay; NULL if there is none. */
cco_request_entry *cco_request_table_find(cco_request_table *table, MPI_Request request);

/* The serial number of the entry of a request, or 0.  `look`, unless NULL, sees the entry before
 * anybody can take it out. */
uint64_t cco_request_table_look(cco_request_table *table, MPI_Request request,
                                void (*look)(cco_request_entry *entry));

/* Takes out all, when no call is under way any more. */
void cco_request_table_empty(cco_request_table *table, void (*drop)(cco_request_entry *entry));

#endif
