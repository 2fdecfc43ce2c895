/* SPDX-License-Identifier: BSD-3-Clause */
/* count.h - the tables of calls, one of each thread. */
#ifndef CCO_CALLS_COUNT_H
#define CCO_CALLS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/box.h"
#include "calls/calls.h"
#include "base/clock.h"
#include "hang/whereabouts.h"

/* Calls that are counted together. */
typedef struct cco_calls_key {
    const void *site; /* to which they return; NULL: all that have no room of their own */
    uint64_t what;    /* CCO_CALLS_WHAT */
} cco_calls_key;
#define CCO_CALLS_WHAT(function, of, distance)                                                     \
    ((uint64_t)(function) << 8 | (uint64_t)(of) << 4 | (uint64_t)(distance))

typedef struct cco_calls_entry {
    cco_calls_key key;
    uint64_t calls, bytes, ticks, longest;
} cco_calls_entry;

/* The table of a thread.  A thread that comes later takes over that of one that has ended. */
typedef struct cco_calls_thread {
    cco_box_thread told; /* as long as there is a black box */
    struct cco_calls_thread *next;
    bool in_use, main; /* main: of the thread that called MPI_Init */
    MPI_Datatype type; /* the last one of the standard's own, and its size */
    uint64_t type_size;
    uint32_t mask, used;
    cco_outermost outermost;  /* as long as there are roll-calls */
    cco_calls_entry *entries; /* empty where `calls` is 0 */
    cco_box_call *last;       /* the last calls; NULL: in no black box */
    uint64_t place, marked;   /* in its file; ticks of the last mark there */
} cco_calls_thread;

/* Whether calls are counted; whether somebody may want to know which one each thread is in. */
extern bool cco_calls_on CCO_CALLS_HIDDEN, cco_calls_watched CCO_CALLS_HIDDEN;

/* Between MPI_Pcontrol(0) and (1): calls are watched, and not counted. */
extern bool cco_calls_suspended CCO_CALLS_HIDDEN;

/* The table of this thread; NULL: it has none yet.  Where its outermost counted call has its frame;
 * NULL outside of one. */
extern _Thread_local cco_calls_thread *cco_calls_mine CCO_CALLS_OWN;
extern _Thread_local const char *cco_calls_frame CCO_CALLS_OWN;

/* This thread enters a call that somebody may want to know; returns when. */
uint64_t cco_calls_open(cco_calls_function function, const void *site);

/* From now on roll-calls ask; false if they did before. */
bool cco_calls_ask(void);

/* What the area of a thread in a black box consists of. */
cco_box_head cco_calls_area(void);

/* Begins a call; 0 if it is not counted.  An error handler may leave a call by longjmp: a call that
 * is not deeper in the stack than one that has not come back is no part of it. */
static inline uint64_t cco_calls_enter(cco_calls_function function, const void *site,
                                       const char *frame)
{
    if (!__atomic_load_n(&cco_calls_on, __ATOMIC_RELAXED) ||
        (cco_calls_frame != NULL && frame < cco_calls_frame))
        return 0;
    cco_calls_frame = frame;
    if (__builtin_expect(__atomic_load_n(&cco_calls_watched, __ATOMIC_RELAXED), 0))
        return cco_calls_open(function, site);
    return cco_ticks();
}

/* Ends it. */
void cco_calls_leave(uint64_t start, uint64_t end, cco_calls_key key, uint64_t bytes);

/* The bytes of `count` elements; 0 of what is no datatype. */
uint64_t cco_calls_bytes(MPI_Count count, MPI_Datatype type);

/* The table of this thread; NULL: no memory. */
cco_calls_thread *cco_calls_own_thread(void);

/* All tables, the last one first. */
const cco_calls_thread *cco_calls_threads(void);

/* The calling thread is the main one. */
void cco_calls_main(void);

#endif
