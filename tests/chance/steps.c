/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c - see steps.h.  What a step is, all ranks draw alike; which operations are ended when,
 * how, and which communicators are freed, each rank draws by itself. */
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attributes.h"
#include "comms.h"
#include "faulty.h"
#include "flow.h"
#include "pair.h"
#include "testing/testing.h"

static void describe(const struct task *t, const char *how)
{
    const struct call *c = &t->call;
    int size = 0;
    const MPI_Datatype type = t->recv.bytes > 0 ? c->recvtype : c->sendtype;
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_size(type, &size);
    if (t->partner != NO_PARTNER)
        say("%s message of %d bytes, partner %d of %d", how, t->n, t->partner, t->slot->size);
    else
        say("%s%s, %s, rank %d of %d, root %d, %d to %d elements of %d bytes%s%s%s", how,
            coll_names[c->coll], mode_names[t->mode], t->slot->rank, t->slot->size, c->root,
            c->sendcount, c->recvcount, size, t->in_place ? ", in place" : "",
            t->zero ? ", types without data" : "", c->user ? ", user's operation" : "");
}

static void blocking(dice *shared)
{
    struct slot *slot = comms_some(shared);
    const enum coll coll = below(shared, WHOLE_COLLS);
    const dice d = dice_next(shared);
    MPI_Request request;
    if (slot->comm == MPI_COMM_NULL) {
        record_new();
        return;
    }
    struct task *t = task_collective(slot, coll, BLOCKING, d);
    describe(t, "");
    task_fill(t, record_new(), d);
    task_over(t, task_call(t, &request));
    task_free(t);
}

static void begun(dice *shared)
{
    struct slot *slot = comms_some(shared);
    const enum coll coll = below(shared, WHOLE_COLLS);
    const bool split = one_in(shared, 2), forget = one_in(shared, 3) && has(CLASS_freed);
    const dice d = dice_next(shared);
    const enum mode mode = split && mode_exists(SPLIT) && has(CLASS_begin) ? SPLIT : NONBLOCKING;
    if (mode == NONBLOCKING && !has(CLASS_ibegin))
        return;
    if (slot->comm == MPI_COMM_NULL) {
        record_new();
        flow_add(slot, NULL);
        return;
    }
    struct task *t = task_collective(slot, coll, mode, d);
    struct item *item = flow_add(slot, t);
    describe(t, forget ? "forgotten " : "");
    task_fill(t, record_new(), d);
    const int rc = task_call(t, &item->request);
    if (forget && rc == MPI_SUCCESS)
        task_forget(t);
    flow_begun(item, rc);
}

/* Each member of the slot passes one on; two items. */
static void messages(dice *shared, bool persistent)
{
    struct slot *slot = comms_some(shared);
    const dice d = dice_next(shared);
    const int tag = 1000 + item_count;
    for (int sending = 0; sending < 2; sending++) {
        struct task *t = slot->comm == MPI_COMM_NULL ? NULL : task_message(slot, sending, tag, d);
        struct item *item = flow_add(slot, t);
        int record = -1;
        item->persistent = persistent;
        item->open = persistent && !sending ? 2 : 0;
        if (t)
            describe(t, persistent ? "persistent" : sending ? "sends" : "receives");
        if (!persistent)
            record = record_new();
        if (!t)
            continue;
        task_fill(t, record, d);
        const struct call *c = &t->call;
        if (sending)
            (persistent ? MPI_Send_init : MPI_Isend)(c->sendbuf, c->sendcount, c->sendtype,
                                                     t->partner, tag, slot->comm, &item->request);
        else
            (persistent ? MPI_Recv_init
                        : MPI_Irecv)(c->recvbuf, c->recvcount, c->recvtype,
                                     one_in(&program.own, 4) ? MPI_ANY_SOURCE : t->partner, tag,
                                     slot->comm, &item->request);
        if (!persistent)
            flow_begun(item, MPI_SUCCESS);
    }
}

/* MPICH 4.0 has persistent collectives that are wrong: docs/mpi-defects.md. */
static bool persistent_fine(enum coll coll)
{
#ifdef LIKE_MPICH
    return coll != COLL_Gather && coll != COLL_Scatter && coll != COLL_Allgather &&
           coll != COLL_Reduce_scatter;
#else
    return coll < COLLS;
#endif
}

static void persistent(dice *shared)
{
    struct slot *slot = comms_some(shared);
    enum coll coll = below(shared, WHOLE_COLLS);
    const dice d = dice_next(shared);
    while (!persistent_fine(coll))
        coll = (coll + 1) % WHOLE_COLLS;
    if (!mode_exists(PERSISTENT))
        return;
    struct task *t = slot->comm == MPI_COMM_NULL ? NULL
                                                 : task_collective(slot, coll, PERSISTENT, d);
    struct item *item = flow_add(slot, t);
    item->persistent = true;
    item->open = 1;
    if (!t)
        return;
    describe(t, "");
    task_fill(t, -1, d);
    const int rc = task_call(t, &item->request);
    CHECK(rc == MPI_SUCCESS, "%s_init: class %d", coll_names[coll], class_of(rc));
}

/* A persistent one that there still is; NULL if there is none. */
static struct item *some_persistent(dice *shared)
{
    const int from = below(shared, ITEMS);
    for (int k = 0; k < item_count; k++) {
        struct item *item = &items[(from + k) % item_count];
        if (item->open > 0)
            return item;
    }
    return NULL;
}

static void start(dice *shared)
{
    struct item *first = some_persistent(shared);
    const dice d = dice_next(shared);
    MPI_Request requests[2];
    if (!first)
        return;
    for (int i = 0; i < first->open; i++)
        flow_end(&first[i], &program.own);
    for (int i = 0; i < first->open; i++) {
        if (first[i].task)
            describe(first[i].task, "starts ");
        const int record = record_new();
        if (first[i].task)
            task_fill(first[i].task, record, d);
        requests[i] = first[i].request;
    }
    if (!first->task)
        return;
    if (first->open == 1 && one_in(&program.own, 2))
        VIA(Start)(&requests[0]);
    else
        VIA(Startall)(first->open, requests);
    for (int i = 0; i < first->open; i++) {
        CHECK(first[i].request == requests[i], "a start changes the request");
        flow_begun(&first[i], MPI_SUCCESS);
    }
}

static void drop(dice *shared)
{
    struct item *first = some_persistent(shared);
    const int count = first ? first->open : 0;
    if (first)
        first->open = 0;
    for (int i = 0; i < count; i++)
        flow_drop(&first[i], &program.own);
}

static void late(dice *shared)
{
    const int rank = below(shared, program.size), us = below(shared, 2000);
    say("rank %d is late by %d us", rank, us);
    if (rank == program.rank)
        usleep((unsigned)us);
}

static void named(dice *shared)
{
    struct slot *slot = comms_some(shared);
    const int which = below(shared, 3);
    MPI_Info info;
    if (slot->comm == MPI_COMM_NULL || slot->comm == program.world || !has(CLASS_names))
        return;
    say("name or hints of a communicator of %d", slot->size);
    if (which == 2) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "chance", "step");
        MPI_Comm_set_info(slot->comm, info);
        MPI_Info_free(&info);
        return;
    }
    snprintf(slot->name, sizeof slot->name, "name %d %d", program.step, which * slot->rank);
    MPI_Comm_set_name(slot->comm, slot->name);
}

static void prepared(dice *shared)
{
    struct slot *slot = comms_some(shared);
    const int which = below(shared, 5);
    const dice d = dice_next(shared);
    const size_t bytes = (size_t)1 << (8 + below(shared, 10));
#ifndef PLAIN_MPI
    if (program.plain)
        return;
    if (slot->comm != MPI_COMM_NULL)
        say("prepares a communicator of %d, way %d", slot->size, which);
    if (which == 4 && has(CLASS_windows) && !comms_left_windows())
        CHECK(CRESTA_Win_finalize() == MPI_SUCCESS, "CRESTA_Win_finalize");
    slot->windows |= which == 2;
    if (slot->comm == MPI_COMM_NULL)
        return;
    if (which == 0)
        CHECK(CRESTA_Comm_prepare(slot->comm) == MPI_SUCCESS, "CRESTA_Comm_prepare");
    if (which == 1)
        comms_choose(slot, d);
    if (which == 2 && has(CLASS_windows))
        CHECK(CRESTA_Win_init(slot->comm) == MPI_SUCCESS, "CRESTA_Win_init");
    if (which == 3 && has(CLASS_memory) && !slot->memory && slot->comm != program.world) {
        slot->bytes = bytes;
        CHECK(CRESTA_Alloc_mem((MPI_Aint)bytes, slot->comm, &slot->memory) == MPI_SUCCESS,
              "CRESTA_Alloc_mem");
    }
#else
    (void)slot, (void)which, (void)d, (void)bytes;
#endif
}

static void many(dice *shared)
{
    struct slot *slot = comms_some(shared);
    const int count = 30 + below(shared, 70);
    const dice d = dice_next(shared);
    MPI_Request request;
    if (!has(CLASS_crowd))
        return;
    say("%d duplicates of a communicator of %d", count, slot->size);
    for (int i = 0; i < count; i++) {
        struct slot *more = comms_dup(slot);
        if (more->comm != MPI_COMM_NULL) {
            comms_choose(more, d + (dice)i);
            const enum coll coll = below(&(dice){d + (dice)i}, WHOLE_COLLS);
            struct task *t = task_collective(more, coll, BLOCKING, d + (dice)i);
            describe(t, "duplicate's ");
            task_fill(t, -1, d);
            task_call(t, &request);
            task_free(t);
        }
        comms_leave_this(more);
    }
}

static void step(dice *shared)
{
    const int which = below(shared, 100), record = record_new();
    if (which < 22)
        blocking(shared);
    else if (which < 44)
        begun(shared);
    else if (which < 52 && has(CLASS_messages))
        messages(shared, false);
    else if (which < 55 && has(CLASS_messages))
        messages(shared, true);
    else if (which < 60 && has(CLASS_persistent))
        persistent(shared);
    else if (which < 68)
        start(shared);
    else if (which < 70)
        drop(shared);
    else if (which < 79)
        comms_make(shared);
    else if (which < 84)
        comms_leave(shared);
    else if (which < 86)
        named(shared);
    else if (which < 89 && has(CLASS_errors))
        faulty_call(comms_some(shared), dice_next(shared), record);
    else if (which < 93)
        prepared(shared);
    else if (which < 97)
        late(shared);
    else if (program.threads && has(CLASS_threads)) {
        record_new();
        pair_run(comms_some(shared), dice_next(shared), record);
    }
}

/* Ends and frees in an order at random until nothing is left. */
static void clear(dice *own)
{
    while (flow_busy() || comms_left())
        if (one_in(own, 2) || !comms_free_one(own)) {
            struct item *item = &items[below(own, item_count + 1)];
            if (item < items + item_count) {
                flow_end(item, own);
                flow_drop(item, own);
            }
        }
}

/* Is it in the list of --steps?  For whoever looks for what makes a program fail. */
static bool chosen_step(int number)
{
    const char *at = program.steps;
    while (at && *at) {
        char *end;
        const long first = strtol(at, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (number >= first && number <= last)
            return true;
        at = *end == ',' ? end + 1 : "";
    }
    return !program.steps;
}

void steps_run(void)
{
    const dice ranks = dice_of(program.seed, 1, (unsigned long)program.rank);
    dice *shared = &program.shared, *own = &program.own;
    *shared = dice_of(program.seed, 2, 0);
    program.records = program.step = 0;
    memset(program.results, 0, sizeof program.results);
    flow_begin_program();
    attributes_begin();
    comms_begin();
    const int steps = 8 + below(shared, 60);
    for (program.step = 1; program.step <= steps; program.step++) {
        *own = dice_of(ranks, 3, (unsigned long)program.step);
        *shared = dice_of(program.seed, 5, (unsigned long)program.step);
        if (!chosen_step(program.step))
            continue;
        step(shared);
        if (program.step == 5 && one_in(shared, 30))
            many(shared);
        if (one_in(own, 3))
            flow_end_some(own);
        if (one_in(own, 2) && has(CLASS_orders))
            comms_free_one(own);
    }
    *own = dice_of(ranks, 4, 0);
    if (!has(CLASS_orders))
        flow_end_all(own);
    comms_leave_all();
    clear(own);
    say("counts the calls of attributes' functions");
    record_put(record_new(), attributes_end());
}
