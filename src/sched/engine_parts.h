/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_parts.h - what an engine is made of: for the files that run one. */
#ifndef CCO_ENGINE_PARTS_H
#define CCO_ENGINE_PARTS_H

#include "sched/engine.h"

typedef struct place {
    cco_base base;
    unsigned layout; /* bytes from the binding to it */
    ptrdiff_t at;
    size_t count; /* elements */
} place;

/* What an engine does, one after the other. */
typedef enum task_kind {
    TASK_SEND,
    TASK_RECV,
    TASK_COPY,
    TASK_REDUCE,     /* two operands, by the operation of the call */
    TASK_COMBINE,    /* the same, with the right one at a place of its own */
    TASK_REDUCE_ANY, /* otherwise */
    TASK_REMOTE,
    TASK_SEND_OFF, /* what follows does not wait for messages: they leave before it */
    TASK_WAIT,     /* the end of a round that waits for what it has started */
    TASK_PASS,     /* the end of another */
    TASK_END
} task_kind;

typedef struct task {
    unsigned char kind, step; /* task_kind; of a remote one, cco_step_kind */
    bool folds;
    bool word;                /* a copy of 8 bytes without gaps */
    bool late;                /* a copy without gaps, so small that it may as well be made later */
    bool last;                /* a wait behind which nothing is left to do */
    unsigned char right_base; /* of TASK_COMBINE: where its right operand is */
    int operation;
    int peer;
    ptrdiff_t right_at;
    size_t ahead; /* bytes to the next task, the ends of rounds that do not wait left out */
    place data;   /* of a message or of a one-sided step; what a local one reads */
    union {
        place to; /* of a local one */
        struct {
            size_t where; /* in the slot */
            int slot;
        } remote;
    };
} task;

struct cco_engine {
    const cco_transport *transport;
    void *transfer;
    const cco_binding *binding;
    int (*go_on)(cco_engine *e);
    int at; /* the round that is open */
    int rounds;
    bool remotes; /* it has one-sided steps */
    bool wide;    /* messages of more elements than an int counts */
    task *tasks;
    const task *opened; /* with which the open round began, */
    const task *next;   /* and what follows that round */
};

#endif
