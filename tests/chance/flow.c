/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.c - see flow.h.  What a call gives back is checked here, whatever the operations are. */
#include "flow.h"

#include <string.h>

#include "ends.h"
#include "testing/testing.h"

struct item items[ITEMS];
int item_count;

void flow_begin_program(void)
{
    item_count = 0;
}

struct item *flow_add(struct slot *slot, struct task *task)
{
    struct item *item = &items[item_count++];
    *item = (struct item){.slot = slot, .task = task, .request = MPI_REQUEST_NULL};
    return item;
}

void flow_close(const struct slot *slot)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].slot == slot)
            items[i].open = 0;
}

void flow_begun(struct item *item, int rc)
{
    struct task *t = item->task;
    if (rc != MPI_SUCCESS) {
        task_over(t, rc);
        if (!item->persistent) {
            task_free(t);
            item->task = NULL;
        }
        return;
    }
    item->active = true;
    t->slot->pending++;
}

static void over(struct item *item)
{
    struct task *t = item->task;
    CHECK(item->persistent == (item->request != MPI_REQUEST_NULL),
          "a request that has ended is %s MPI_REQUEST_NULL", item->persistent ? "" : "not");
    item->active = false;
    t->slot->pending--;
    task_over(t, MPI_SUCCESS);
    if (!item->persistent) {
        task_free(t);
        item->task = NULL;
    }
}

/* MPICH 4.0 takes inactive persistent collectives for active ones: docs/mpi-defects.md. */
static bool inactive_fine(const struct item *item)
{
#ifdef LIKE_MPICH
    return item->task->partner != NO_PARTNER;
#else
    return item->task != NULL;
#endif
}

static void take_back(struct end *e)
{
    for (int i = 0; i < e->count; i++) {
        struct item *item = e->items[i];
        if (!item) {
            CHECK(e->requests[i] == MPI_REQUEST_NULL && !e->done[i], "a null request has ended");
            continue;
        }
        const bool hidden = e->done[i] && item->persistent && inactive_fine(item) == false;
        const bool changed = item->request != e->requests[i];
        if (!hidden)
            item->request = e->requests[i];
        CHECK(!e->done[i] || item->active, "what was inactive has ended");
        CHECK(e->done[i] || !changed, "a request that has not ended has changed");
        if (e->done[i] && item->active) {
            end_check_status(e, i);
            over(item);
        }
    }
}

/* Some of what there is: active, inactive, null. */
static void choose(struct end *e, struct item *wanted, dice *own)
{
    const int share = 1 + below(own, 4);
    memset(e, 0, sizeof *e);
    e->wanted = -1;
    for (int i = 0; i < item_count && e->count < END_MOST - 2; i++) {
        struct item *item = &items[i];
        const bool chosen = item == wanted || one_in(own, share);
        if (!item->task || !chosen || (!item->active && !one_in(own, 3)))
            continue;
        if (!item->active && !(has(CLASS_nulls) && inactive_fine(item)))
            continue;
        if (item == wanted)
            e->wanted = e->count;
        e->items[e->count] = item;
        e->requests[e->count++] = item->request;
    }
    while (one_in(own, 2) && e->count < END_MOST && has(CLASS_nulls))
        e->requests[e->count++] = MPI_REQUEST_NULL;
    for (int i = e->count - 1; i > 0; i--) {
        const int other = below(own, i + 1);
        end_swap(e, i, other);
    }
    for (int i = 0; i < e->count; i++)
        e->active += e->items[i] && e->items[i]->active;
}

void flow_end(struct item *item, dice *own)
{
    struct end e;
    if (!item->task || !item->active)
        return;
    choose(&e, item, own);
    if (e.wanted < 0) { /* too many */
        e = (struct end){.count = 1, .active = 1, .items = {item}, .requests = {item->request}};
    }
    end_wait_for(&e, own);
    take_back(&e);
    CHECK(!item->task || !item->active, "waited for, but not ended");
}

void flow_end_some(dice *own)
{
    struct end e;
    choose(&e, NULL, own);
    end_some(&e, own);
    take_back(&e);
}

bool flow_busy(void)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].task)
            return true;
    return false;
}

void flow_drop(struct item *item, dice *own)
{
    if (!item->task || !item->persistent)
        return;
    flow_end(item, own);
    MPI_Request_free(&item->request);
    task_free(item->task);
    item->task = NULL;
}

void flow_end_of(const struct slot *slot, dice *own)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].slot == slot)
            flow_end(&items[i], own);
}

void flow_drop_of(struct slot *slot, dice *own)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].task && items[i].task->slot == slot)
            flow_drop(&items[i], own);
}

void flow_end_all(dice *own)
{
    for (int i = 0; i < item_count; i++) {
        flow_end(&items[i], own);
        flow_drop(&items[i], own);
    }
}
