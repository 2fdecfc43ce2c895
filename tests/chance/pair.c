/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - see pair.h. */
#include "pair.h"

#include <pthread.h>
#include <sched.h>

#include "comms.h"
#include "task.h"

struct half {
    struct slot *slot;
    dice d;
    unsigned long hash;
};

static void one(struct half *h)
{
    struct task *t;
    MPI_Request request;
    int done = 0;
    const enum coll coll = below(&h->d, WHOLE_COLLS);
    enum mode mode = one_in(&h->d, 2) ? BLOCKING : NONBLOCKING;
    if (one_in(&h->d, 4) && mode_exists(SPLIT) && has(CLASS_begin))
        mode = SPLIT;
    t = task_collective(h->slot, coll, mode, dice_next(&h->d));
    task_fill(t, -1, dice_next(&h->d));
    const int rc = task_call(t, &request);
    while (rc == MPI_SUCCESS && request != MPI_REQUEST_NULL && !done) {
        VIA(Test)(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    h->hash = h->hash * 31 + task_result(t, rc);
    task_free(t);
}

static void *run(void *argument)
{
    struct half *h = argument;
    const int count = 1 + below(&h->d, 5);
    for (int i = 0; i < count; i++)
        one(h);
    return NULL;
}

void pair_run(struct slot *of, dice d, int record)
{
    struct half halves[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        halves[i] = (struct half){.slot = comms_dup(of), .d = dice_next(&d)};
    say("two threads on two duplicates of a communicator of %d ranks", of->size);
    for (int i = 0; i < 2 && of->comm != MPI_COMM_NULL; i++)
        pthread_create(&threads[i], NULL, run, &halves[i]);
    for (int i = 0; i < 2; i++) {
        if (of->comm != MPI_COMM_NULL)
            pthread_join(threads[i], NULL);
        record_put(record + i, halves[i].hash);
        comms_leave_this(halves[i].slot);
    }
}
