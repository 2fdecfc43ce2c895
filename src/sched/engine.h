/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h - runs a schedule over a transport: start, test until done, start again.
 *
 * Never waits: whoever tests decides how.  Local steps run when their round opens, after its
 * messages were started; rounds without messages take no test. */
#ifndef CCO_ENGINE_H
#define CCO_ENGINE_H

#include "sched/step.h"
#include "sched/transport.h"

struct cco_elements; /* transport/local/elements.h */

/* An operation on elements of its own: schedules that were made of several (merge.h) count in
 * bytes, and their calls may have any operations. */
typedef struct cco_typed_op {
    cco_layout layout; /* of an element, without gaps */
    cco_reduce_op operation;
} cco_typed_op;

/* The memory that a schedule works on; must stay until it is done. */
typedef struct cco_binding {
    char *base[CCO_BASES];
    cco_layout layouts[CCO_BASES]; /* sizes and extents are those of the problem */
    cco_reduce_op operation;
    const struct cco_elements *elements; /* of packed reductions (plan/packed.h), else NULL */
    const cco_typed_op *operations;      /* of steps that have the number of one, else NULL */
} cco_binding;

typedef struct cco_engine cco_engine;

/* False if the schedule has one-sided steps that the transport lacks. */
bool cco_engine_able(const cco_sched *s, const cco_transport *transport);

/* An engine for a schedule, which need not stay; `shared` as transport.h says.  NULL when memory
 * runs out, or when it is not able. */
cco_engine *cco_engine_new(const cco_sched *s, const cco_transport *transport, void *shared);
void cco_engine_free(cco_engine *e); /* while it runs: abandons its messages */

/* Starts the schedule.  Return MPI_SUCCESS, or the class of the error that ended it. */
int cco_engine_start(cco_engine *e, const cco_binding *binding);
int cco_engine_test(cco_engine *e, bool *done);

/* In a long wait: the error with which it ends, because a process has failed; else MPI_SUCCESS. */
int cco_engine_lost(cco_engine *e);

/* Gives up what is under way; returns `error`. */
int cco_engine_stop(cco_engine *e, int error);

/* How far it is: the round that is open, as many as there are at the end. */
int cco_engine_at(const cco_engine *e);
int cco_engine_rounds(const cco_engine *e);

/* For who wants to know what is there before the end (sched/block_progress.h).  Visits whatever its
 * steps write on this rank: in which round, where, how many bytes of memory, and by which message
 * of the round; CCO_NO_MESSAGE for a local step, which is over when its round is open.  Rounds come
 * in order.  `layouts` are those of the problem, with extents above 0. */
enum { CCO_NO_MESSAGE = -1 };
typedef void cco_write_visit(void *visitor, int round, int message, cco_base base, ptrdiff_t at,
                             size_t n);
void cco_engine_each_write(const cco_engine *e, const cco_layout *layouts, cco_write_visit *visit,
                           void *visitor);

/* True if what it writes is known step by step. */
bool cco_engine_tells(const cco_engine *e);

/* Says whether a message of the open round is over; after a test that found the round not to be.
 * Returns MPI_SUCCESS, or the class of the error that ended the schedule. */
int cco_engine_over(cco_engine *e, int message, bool *over);

#endif
