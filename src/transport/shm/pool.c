/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - see pool.h. */
#include "transport/shm/pool.h"

#include <pthread.h>

#include "comm/facts.h"
#include "mpi/service.h"

enum { ROOM = 8 };

typedef struct entry {
    cco_segment segment;
    uint64_t mark;
    int rank;
} entry;

/* What rank 0 offers; no memory: nothing. */
typedef struct offer {
    cco_segment_id id;
    uint64_t mark;
} offer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry entries[ROOM]; /* the oldest first */
static int count;

/* With the lock. */
static entry pool_take_out(int i)
{
    const entry e = entries[i];
    count--;
    for (; i < count; i++)
        entries[i] = entries[i + 1];
    return e;
}

/* The newest: of all it is the likeliest to be in a cache. */
static entry pool_newest(size_t share, int ranks)
{
    entry e = {.segment.memory = NULL};
    pthread_mutex_lock(&lock);
    int i = count - 1;
    while (i >= 0 && (entries[i].segment.share != share || entries[i].segment.shares != ranks ||
                      entries[i].rank != 0))
        i--;
    if (i >= 0)
        e = pool_take_out(i);
    pthread_mutex_unlock(&lock);
    return e;
}

static bool pool_is(const entry *e, const offer *o, size_t share, int rank, int ranks)
{
    const cco_segment *s = &e->segment;
    return s->id.inode == o->id.inode && s->id.process == o->id.process && e->mark == o->mark &&
           e->rank == rank && s->shares == ranks && s->share == share;
}

static entry pool_find(const offer *o, size_t share, int rank, int ranks)
{
    entry e = {.segment.memory = NULL};
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        if (pool_is(&entries[i], o, share, rank, ranks)) {
            e = pool_take_out(i);
            break;
        }
    pthread_mutex_unlock(&lock);
    return e;
}

/* With the lock. */
static void free_oldest(void)
{
    entry e = pool_take_out(0);
    cco_segment_free(&e.segment);
}

/* New segments come before old ones that may be wanted again. */
static void pool_make_room(size_t share, size_t most)
{
    pthread_mutex_lock(&lock);
    const size_t seats = cco_segment_pages(1); /* at most, of a rank */
    while (count > 0 && cco_segments_in_use() + share + seats > most)
        free_oldest();
    pthread_mutex_unlock(&lock);
}

/* What all ranks have let go of, and rank 0 offers. */
static entry pool_agree(size_t share, MPI_Comm comm)
{
    entry mine = {.segment.memory = NULL};
    offer o = {.mark = 0};
    int rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank == 0) {
        mine = pool_newest(share, ranks);
        o = (offer){mine.segment.id, mine.mark};
    }
    if (cco_service_bcast(&o, sizeof o, comm) != MPI_SUCCESS)
        o = (offer){.mark = 0};
    if (o.id.inode == 0)
        return (entry){.segment.memory = NULL};
    if (rank != 0)
        mine = pool_find(&o, share, rank, ranks);
    const bool has = mine.segment.memory != NULL;
    if (cco_service_all(has && !cco_inject_mismatch(), comm))
        return mine;
    if (has)
        cco_pool_keep(&mine.segment, mine.mark, mine.rank);
    return (entry){.segment.memory = NULL};
}

bool cco_pool_take(cco_segment *segment, size_t share, size_t most, MPI_Comm comm, uint64_t *mark)
{
    const size_t pages = cco_segment_pages(share);
    const entry e = pool_agree(pages, comm);
    *segment = e.segment;
    *mark = e.mark;
    if (segment->memory != NULL)
        return true;
    pool_make_room(pages, most);
    return cco_segment_make(segment, share, most, comm);
}

void cco_pool_keep(cco_segment *segment, uint64_t mark, int rank)
{
    pthread_mutex_lock(&lock);
    if (count == ROOM)
        free_oldest();
    entries[count++] = (entry){*segment, mark, rank};
    pthread_mutex_unlock(&lock);
    *segment = (cco_segment){.memory = NULL};
}

void cco_pool_empty(void)
{
    pthread_mutex_lock(&lock);
    while (count > 0)
        free_oldest();
    pthread_mutex_unlock(&lock);
}
