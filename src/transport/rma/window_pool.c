/* SPDX-License-Identifier: BSD-3-Clause */
/* window_pool.c - see window_pool.h. */
#include "transport/rma/window_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "comm/facts.h"
#include "base/log.h"
#include "mpi/service.h"

typedef struct entry {
    cco_window window;
    struct entry *next;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries; /* the one retired last comes first */

void cco_window_pool_keep(const cco_window *window)
{
    entry *e = malloc(sizeof *e);
    if (e == NULL)
        cco_fatal("no memory to keep a window");
    e->window = *window;
    pthread_mutex_lock(&lock);
    e->next = entries;
    entries = e;
    pthread_mutex_unlock(&lock);
}

typedef bool (*wanted)(const cco_window *window, const void *what);

/* The first that is wanted, out of the list; NULL if none is. */
static entry *window_pool_take_out(wanted is, const void *what)
{
    pthread_mutex_lock(&lock);
    entry **link = &entries;
    while (*link != NULL && !is(&(*link)->window, what))
        link = &(*link)->next;
    entry *found = *link;
    if (found != NULL)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

static void put_back(entry *e)
{
    pthread_mutex_lock(&lock);
    e->next = entries;
    entries = e;
    pthread_mutex_unlock(&lock);
}

/* What rank 0 looks for. */
typedef struct wish {
    cco_window_use use;
    size_t bytes;
    int size;
    MPI_Group group;
} wish;

static bool is_of(const cco_window *w, const void *what)
{
    const wish *q = what;
    int same = MPI_UNEQUAL;
    MPI_Group group;
    if (w->use != q->use || w->area.bytes != q->bytes || w->area.size != q->size ||
        w->area.rank != 0 || w->broken || PMPI_Win_get_group(w->win, &group) != MPI_SUCCESS)
        return false;
    PMPI_Group_compare(group, q->group, &same);
    PMPI_Group_free(&group);
    return same == MPI_IDENT;
}

static bool is_number(const cco_window *w, const void *what)
{
    return w->number == *(const uint64_t *)what && !w->broken;
}

static entry *window_pool_offer(const cco_window *wanted_window, size_t bytes, MPI_Comm comm,
                                int size)
{
    wish q = {.use = wanted_window->use, .bytes = bytes, .size = size};
    if (PMPI_Comm_group(comm, &q.group) != MPI_SUCCESS)
        return NULL;
    entry *found = window_pool_take_out(is_of, &q);
    PMPI_Group_free(&q.group);
    return found;
}

bool cco_window_pool_take(cco_window *window, size_t bytes, MPI_Comm comm)
{
    uint64_t number = 0;
    entry *mine = NULL;
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank == 0 && (mine = window_pool_offer(window, bytes, comm, size)) != NULL)
        number = mine->window.number;
    if (cco_service_bcast(&number, sizeof number, comm) != MPI_SUCCESS || number == 0)
        return false;
    if (rank != 0)
        mine = window_pool_take_out(is_number, &number);
    const bool all = cco_service_all(mine != NULL && !cco_inject_mismatch(), comm);
    if (all)
        *window = mine->window;
    if (all)
        free(mine);
    else if (mine != NULL)
        put_back(mine);
    return all;
}

static bool is_held(const cco_window *w, const void *what)
{
    return *(const bool *)what || w->held;
}

bool cco_window_pool_any(cco_window *window, bool all)
{
    entry *found = window_pool_take_out(is_held, &all);
    if (found == NULL)
        return false;
    *window = found->window;
    free(found);
    return true;
}
