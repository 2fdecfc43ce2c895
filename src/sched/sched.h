/* SPDX-License-Identifier: BSD-3-Clause */
/* sched.h - a schedule: the steps that one rank performs for one collective.  What algorithms see.
 *
 * Steps of one round may run in any order; cco_round() opens the next.  A span is a place relative
 * to a base, never a pointer, and no step names a transport: one schedule serves any buffers, as
 * often as it is started, over any transport.  Building moves no data of the user.
 *
 * Errors stick: after the first one every call does nothing, and cco_sched_error tells it.
 *
 * After libNBC (T. Hoefler, A. Lumsdaine, W. Rehm: Implementation and performance analysis of
 * non-blocking collective operations for MPI, SC 2007): rounds, and addresses that can move. */
#ifndef CCO_SCHED_H
#define CCO_SCHED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cco_sched cco_sched;

/* Where a span lies: the caller's send and receive buffer, or scratch. */
typedef enum cco_base { CCO_IN, CCO_OUT, CCO_TMP, CCO_BASES } cco_base;

/* `n` bytes of data, counted without the gaps that datatypes have.  `at` counts memory: it is where
 * the first element begins, from the base.  A layout (problem.h) says how the two go together. */
typedef struct cco_span {
    cco_base base;
    int layout;
    ptrdiff_t at;
    size_t n;
} cco_span;

/* Sends to, or receives from, another rank.  Between two ranks the messages of a collective match
 * in the order of rounds, and within a round in the order of calls.  An empty span is no message.
 */
void cco_send(cco_sched *s, int peer, cco_span from);
void cco_recv(cco_sched *s, int peer, cco_span to);

/* Copies on this rank; nothing if both are the same place. */
void cco_copy(cco_sched *s, cco_span from, cco_span to);

/* into = from op into, element by element; `from` is the left operand. */
void cco_reduce(cco_sched *s, cco_span from, cco_span into);

/* Opens the next round: what follows waits for everything before it. */
void cco_round(cco_sched *s);

/* Room for `n` bytes of data, whole elements in the layout of scratch; it lives as long as the
 * schedule. */
cco_span cco_scratch(cco_sched *s, size_t n);

/* `n` bytes of a span, from its byte `from` on; both ends must be ends of elements. */
cco_span cco_part(cco_sched *s, cco_span span, size_t from, size_t n);

#endif
