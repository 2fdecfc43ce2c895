/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c - which requests are not of messages, so that the time in MPI_Wait is counted as what
 * it is.  Programs that have none do not come here.
 *
 * Entries are never given back to the system.  Requests beyond MOST_OPEN at one time are taken for
 * messages. */
#include "calls/requests.h"

#include "mpi/request_table.h"

enum { MOST_OPEN = 1024 };

typedef struct noted {
    cco_request_entry head;
    cco_calls_of of;
} noted;

static struct {
    cco_request_table open;
    pthread_mutex_t lock; /* of the rest */
    noted entries[MOST_OPEN];
    int used;                /* so many of them have been */
    cco_request_entry *free; /* those that are not any more */
} requests = {.open = CCO_REQUEST_TABLE, .lock = PTHREAD_MUTEX_INITIALIZER};

int cco_calls_others;

/* NULL if there is none. */
static noted *calls_new_entry(void)
{
    noted *made = NULL;
    pthread_mutex_lock(&requests.lock);
    if (requests.free != NULL) {
        made = (noted *)requests.free;
        requests.free = made->head.next;
    } else if (requests.used < MOST_OPEN) {
        made = &requests.entries[requests.used++];
    }
    pthread_mutex_unlock(&requests.lock);
    return made;
}

static void calls_drop_entry(cco_request_entry *entry)
{
    if (entry == NULL)
        return;
    pthread_mutex_lock(&requests.lock);
    entry->next = requests.free;
    requests.free = entry;
    pthread_mutex_unlock(&requests.lock);
    __atomic_fetch_sub(&cco_calls_others, 1, __ATOMIC_RELAXED);
}

void cco_calls_begun(MPI_Request request, cco_calls_of of)
{
    noted *made = request != MPI_REQUEST_NULL ? calls_new_entry() : NULL;
    if (made == NULL)
        return;
    made->head.request = request;
    made->of = of;
    __atomic_fetch_add(&cco_calls_others, 1, __ATOMIC_RELAXED);
    calls_drop_entry(cco_request_table_put(&requests.open, &made->head));
}

/* One more request of a call, which has some `before` it. */
static void calls_look_at(cco_calls_waited *waited, int i, MPI_Request request, bool *before)
{
    if (request == MPI_REQUEST_NULL)
        return;
    const cco_request_entry *found = cco_request_table_find(&requests.open, request);
    const cco_calls_of of = found != NULL ? ((const noted *)found)->of : CCO_CALLS_OF_MESSAGES;
    waited->of = *before && waited->of != of ? CCO_CALLS_OF_SEVERAL : of;
    *before = true;
    if (found != NULL && waited->count < CCO_CALLS_NOTED)
        waited->request[waited->count++] = (cco_calls_noted){i, request, found->serial};
}

void cco_calls_look(cco_calls_waited *waited, int count, const MPI_Request *list)
{
    bool before = false;
    for (int i = 0; list != NULL && i < count; i++) /* without a list, the MPI says what is wrong */
        calls_look_at(waited, i, list[i], &before);
}

void cco_calls_look_fortran(cco_calls_waited *waited, int count, const MPI_Fint *list)
{
    bool before = false;
    for (int i = 0; list != NULL && i < count; i++)
        calls_look_at(waited, i, PMPI_Request_f2c(list[i]), &before);
}

static void calls_end_of(const cco_calls_noted *noted, MPI_Request now)
{
    if (now == MPI_REQUEST_NULL)
        calls_drop_entry(cco_request_table_take(&requests.open, noted->request, noted->serial));
}

void cco_calls_ended(const cco_calls_waited *waited, const MPI_Request *list)
{
    for (int i = 0; i < waited->count; i++)
        calls_end_of(&waited->request[i], list[waited->request[i].at]);
}

void cco_calls_ended_fortran(const cco_calls_waited *waited, const MPI_Fint *list)
{
    for (int i = 0; i < waited->count; i++)
        calls_end_of(&waited->request[i], PMPI_Request_f2c(list[waited->request[i].at]));
}
