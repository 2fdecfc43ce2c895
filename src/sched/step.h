/* SPDX-License-Identifier: BSD-3-Clause */
/* step.h - what a schedule is made of: shared by builder, printer, checker and transports. */
#ifndef CCO_STEP_H
#define CCO_STEP_H

#include "call/stamp.h"
#include "sched/problem.h"

typedef enum cco_step_kind {
    CCO_STEP_SEND,
    CCO_STEP_RECV,
    CCO_STEP_COPY,
    CCO_STEP_REDUCE,
    CCO_STEP_EXPOSE, /* the first steps of a schedule: slot i is step i */
    CCO_STEP_PUT,
    CCO_STEP_GET,
    CCO_STEP_NOTIFY,
    CCO_STEP_AWAIT,
    CCO_STEP_ROUND
} cco_step_kind;

typedef struct cco_step {
    cco_step_kind kind;
    int peer;
    cco_span a, b; /* send, put: from a; receive, get: to b; copy, reduce: from a, to or into b;
                      expose: a */
    int slot;      /* expose: its number; put, get: of the peer, */
    size_t place;  /* and the byte of its data where they begin */
    int operation; /* reduce: its number in the binding, from 1 on; 0: that of the call */
    bool fold;     /* reduce: `a` is all operands, and `b` only written (cco_fold_into) */
} cco_step;

struct cco_sched {
    const cco_layout *layouts;
    int rank, size;
    uint64_t stamp;          /* of the call (call/stamp.h), without bytes if ranks have others, */
    bool empties;            /* an empty message is one, too */
    size_t unit;             /* of the problem, */
    const cco_node_map *map; /* and its nodes */
    const cco_group *group;  /* peers are places in it; NULL: ranks */
    struct cco_note *notes;  /* memory of the builder */
    cco_step *steps;
    int count, room;
    int slots;      /* spans that it exposes */
    size_t scratch; /* bytes of memory that it needs */
    int error;      /* an MPI error class */
};

/* An empty schedule for a problem, which must stay while it is built. */
cco_sched *cco_sched_new(const cco_problem *q);
void cco_sched_free(cco_sched *s);

/* MPI_SUCCESS, or the class of the first error: MPI_ERR_NO_MEM, MPI_ERR_INTERN for an algorithm
 * that names a wrong rank or slot, cuts inside an element, reduces what cannot be, or exposes too
 * late. */
int cco_sched_error(const cco_sched *s);

/* Behind the last step of the round that begins with a step. */
int cco_round_end(const cco_sched *s, int first);

/* Memory that a span covers, gaps between its elements included, what they spill not. */
size_t cco_span_memory(const cco_sched *s, cco_span span);

#endif
