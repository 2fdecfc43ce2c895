/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.h - a transport around another one: shows every operation, delays messages at random, or
 * lets one operation fail.  Delays shake out what relies on an order that nobody promised. */
#ifndef CCO_HOOK_H
#define CCO_HOOK_H

#include <stdint.h>

#include "sched/transport.h"

/* What its transfers share: this, with the rest of it zero, does nothing. */
typedef struct cco_hook {
    const cco_transport *inner; /* NULL: messages come to their end at once and move nothing */
    void *shared;               /* for the transfers of `inner` */
    uint64_t seed;              /* not 0: messages start up to some tests later; changes */
    long fail;                  /* the operation that fails, counted from 1; 0 for none */
    long operations;            /* messages and local steps so far */
    /* Is told of every operation: "send", "recv", "copy", "reduce"; NULL for nobody.  The peer of a
     * local step is -1. */
    void (*trace)(void *listener, const char *what, int peer, size_t bytes);
    void *listener;
} cco_hook;

extern const cco_transport cco_transport_hook; /* `shared` is a cco_hook */

#endif
