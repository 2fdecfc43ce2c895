/* SPDX-License-Identifier: BSD-3-Clause */
/* pull.c - see pull.h. */
#include "transport/shm/pull.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pause.h"
#include "transport/shm/lost.h"

enum { LINE = 64 };

/* What a rank has in the shared memory. */
typedef struct corner {
    _Alignas(LINE) uint64_t called; /* others set it: this rank should look at their requests */
    _Alignas(LINE) uint64_t failed; /* of rank 0's: a read failed */
    _Alignas(LINE) uint64_t owner;  /* of what this rank asks for, after it 1; 0: for nothing, or it
                                       is there */
    uint64_t from, n;
    _Alignas(LINE) char reply[CCO_PULL_REPLY];
} corner;

size_t cco_pull_share(void)
{
    return sizeof(corner);
}

static corner *corner_of(const cco_pull *p, int rank)
{
    return (corner *)(void *)(p->memory + (size_t)rank * p->share);
}

bool cco_pull_open(cco_pull *p, char *memory, size_t share, int rank, int size)
{
    *p = (cco_pull){.memory = memory, .share = share, .rank = rank, .size = size};
    p->peers = calloc((size_t)size, sizeof *p->peers);
    p->scratch = malloc((size_t)2 * CCO_PULL_CHUNK);
    if (p->peers == NULL || p->scratch == NULL) {
        cco_pull_close(p);
        return false;
    }
    corner *mine = corner_of(p, rank); /* another communicator may have used it */
    mine->called = mine->failed = mine->owner = 0;
    return true;
}

void cco_pull_close(cco_pull *p)
{
    free(p->peers);
    free(p->scratch);
    p->peers = NULL;
    p->scratch = NULL;
}

bool cco_pull_probe(const cco_pull *p)
{
    for (int i = 0; i < p->size; i++)
        if (i != p->rank && !cco_process_readable(&p->peers[i]))
            return false;
    return true;
}

/* Asks the rank that has them for at most CCO_PULL_REPLY bytes. */
static void pull_ask(cco_pull *p, int rank, uint64_t from, char *to, size_t n)
{
    corner *mine = corner_of(p, p->rank);
    if (p->ring != NULL && p->ring->over) { /* nobody answers any more */
        memset(to, 0, n);
        return;
    }
    mine->from = from;
    mine->n = n;
    __atomic_store_n(&mine->owner, (uint64_t)rank + 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&corner_of(p, rank)->called, 1, __ATOMIC_SEQ_CST);
    for (int tries = CCO_PAUSE_MEMORY; __atomic_load_n(&mine->owner, __ATOMIC_ACQUIRE) != 0;) {
        cco_pull_serve(p);
        cco_pause(&tries);
        if (p->ring != NULL && !p->ring->over && cco_lost_gone(p->ring, rank, tries) &&
            __atomic_load_n(&mine->owner, __ATOMIC_ACQUIRE) != 0)
            cco_lost_give_up(p->ring, rank); /* which makes the corner zeros */
    }
    memcpy(to, mine->reply, n);
}

/* From the next call on, ranks use slots.  The first to find it out says so. */
static void pull_give_up(cco_pull *p, int rank, int error)
{
    p->refused = p->refused || error != EFAULT;
    if (__atomic_exchange_n(&corner_of(p, 0)->failed, 1, __ATOMIC_RELAXED) == 0)
        cco_log(CCO_LOG_WARN,
                "shm?copy=single: rank %d cannot read the memory of rank %d of a communicator of %d"
                " (%s): the data are copied through slots there from now on",
                p->rank, rank, p->size, strerror(error));
}

void cco_pull_read(cco_pull *p, int rank, const char *from, char *to, size_t n)
{
    const uint64_t at = (uint64_t)(uintptr_t)from;
    size_t done = 0;
    if (!p->refused) {
        done = cco_process_read(&p->peers[rank], at, to, n);
        if (done < n && errno != ESRCH)
            pull_give_up(p, rank, errno);
    }
    for (size_t now; done < n; done += now) {
        now = n - done < CCO_PULL_REPLY ? n - done : CCO_PULL_REPLY;
        pull_ask(p, rank, at + done, to + done, now);
    }
}

void cco_pull_serve(cco_pull *p)
{
    corner *mine = corner_of(p, p->rank);
    if (__atomic_load_n(&mine->called, __ATOMIC_RELAXED) == 0)
        return;
    __atomic_store_n(&mine->called, 0, __ATOMIC_SEQ_CST); /* before the look at requests */
    for (int i = 0; i < p->size; i++) {
        corner *c = corner_of(p, i);
        if (__atomic_load_n(&c->owner, __ATOMIC_SEQ_CST) != (uint64_t)p->rank + 1)
            continue;
        memcpy(c->reply, (const char *)(uintptr_t)c->from, c->n);
        __atomic_store_n(&c->owner, 0, __ATOMIC_RELEASE);
    }
}

bool cco_pull_failed(const cco_pull *p)
{
    return __atomic_load_n(&corner_of(p, 0)->failed, __ATOMIC_RELAXED) != 0;
}
