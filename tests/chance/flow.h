/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.h - operations that are under way, and all ways to end them. */
#ifndef CHANCE_FLOW_H
#define CHANCE_FLOW_H

#include "task.h"

/* A request of this rank; item k is of the same operation on all ranks. */
struct item {
    struct task *task; /* NULL: this rank has no part in it, or it is over */
    MPI_Request request;
    bool persistent, active;
    int open;          /* persistent: how many items to start with it; 0: not to be started */
    struct slot *slot; /* also where this rank has no part in it */
};

/* All of a program, in the order in which they were made. */
extern struct item items[ITEMS];
extern int item_count;

void flow_begin_program(void);

/* The next item is that task on that slot, or none of this rank. */
struct item *flow_add(struct slot *slot, struct task *task);

/* Nothing is started on the slot any more. */
void flow_close(const struct slot *slot);

/* Its operation has begun, with this return code. */
void flow_begun(struct item *item, int rc);

/* Ends this one, and others at random. */
void flow_end(struct item *item, dice *own);

/* Ends some, or none, in a way at random. */
void flow_end_some(dice *own);
void flow_end_all(dice *own);

/* Gives back the persistent request, which it ends first. */
void flow_drop(struct item *item, dice *own);
void flow_end_of(const struct slot *slot, dice *own);
void flow_drop_of(struct slot *slot, dice *own);

bool flow_busy(void);

#endif
