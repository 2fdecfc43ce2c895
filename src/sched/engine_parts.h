/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_parts.h - what an engine is made of: for engine.c, and who tells where it is. */
#ifndef CCO_ENGINE_PARTS_H
#define CCO_ENGINE_PARTS_H

#include "sched/engine.h"

typedef struct place {
    cco_base base;
    int layout;
    ptrdiff_t at;
    size_t count; /* elements */
} place;

typedef struct message {
    bool sends;
    int peer;
    place data;
} message;

typedef struct local {
    bool reduces;
    int operation;
    place from, to;
} local;

typedef struct remote {
    cco_step_kind kind;
    int peer, slot;
    size_t where; /* in the slot */
    place data;
} remote;

/* Where its steps end in the arrays; they begin where those of the round before end. */
typedef struct round {
    int messages, locals, remotes;
} round;

struct cco_engine {
    const cco_transport *transport;
    void *transfer;
    const cco_binding *binding;
    int at; /* the round that is open */
    int rounds;
    round *ends; /* of each round */
    message *messages;
    local *locals;
    remote *remotes;
};

#endif
