/* SPDX-License-Identifier: BSD-3-Clause */
/* teardown.c - see teardown.h. */
#include "comm/teardown.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi/service.h"

typedef struct teardown {
    uint64_t number;
    void (*end)(void *what);
    void *what;
} teardown;

static _Thread_local struct {
    bool collects;
    size_t count, room;
    teardown *list;
} mine;

/* Unlike those of other processes: ranks may come from several worlds. */
static uint64_t new_number(void)
{
    static uint32_t count = 1; /* no number is 0 */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t here = (uint64_t)now.tv_nsec * 2654435761u ^ (uint64_t)getpid() * 40503u;
    return here << 32 | __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

uint64_t cco_teardown_number(MPI_Comm comm)
{
    uint64_t number = new_number();
    cco_service_bcast(&number, sizeof number, comm);
    return number;
}

void cco_teardown(uint64_t number, void (*end)(void *what), void *what)
{
    if (!mine.collects) {
        end(what);
        return;
    }
    if (mine.count == mine.room) {
        mine.room = mine.room * 2 + 16;
        mine.list = realloc(mine.list, mine.room * sizeof *mine.list);
        if (mine.list == NULL)
            cco_fatal("no memory for the list of objects to end");
    }
    mine.list[mine.count++] = (teardown){number, end, what};
}

void cco_teardowns_collect(void)
{
    mine.collects = true;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t left = ((const teardown *)a)->number, right = ((const teardown *)b)->number;
    return left < right ? -1 : left > right;
}

void cco_teardowns_run(void)
{
    mine.collects = false;
    if (mine.count > 0)
        qsort(mine.list, mine.count, sizeof *mine.list, by_number);
    for (size_t i = 0; i < mine.count; i++)
        mine.list[i].end(mine.list[i].what);
    free(mine.list);
    mine.list = NULL;
    mine.count = mine.room = 0;
}
