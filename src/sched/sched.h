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
 * in the order of rounds, and within a round in the order of calls.  An empty span is no message,
 * but of neighbors it is one where the problem has `empties`. */
void cco_send(cco_sched *s, int peer, cco_span from);
void cco_recv(cco_sched *s, int peer, cco_span to);

/* Copies on this rank; nothing if both are the same place. */
void cco_copy(cco_sched *s, cco_span from, cco_span to);

/* into = from op into, element by element; `from` is the left operand. */
void cco_reduce(cco_sched *s, cco_span from, cco_span into);

/* into = from[0] op from[1] op ..., where `from` is as many operands as it has lengths of `into`,
 * one after the other; they overlap `into` nowhere.  Sums of floating-point numbers are rounded
 * once, so that their order does not tell (reduce/exact_fold.h). */
void cco_fold_into(cco_sched *s, cco_span from, cco_span into);

/* One-sided steps: a rank opens spans of its own as slots, and others write and read them there.
 *
 * Only notifications order what different ranks do: never messages, never time.
 *   - What a rank does in a round comes before all that a peer does in rounds after an await, if
 *     the notification awaited left the rank in a later round; and so on from rank to rank.
 *   - A put is an exception: it comes before nothing until its target has awaited a notification
 *     that the same origin sent it in a later round; then it is as if the target had written the
 *     data in the round of that await.
 *   - Two accesses to a byte of a slot, one of which writes, must be ordered so, whoever they are
 *     of: also a put after a put, and the put into a slot whose last data are still being read.
 *   - A peer may be touched in rounds after an await of that peer: its first notification says that
 *     its slots are open.
 *   - A rank's schedule may end only after all that others do to its slots, and no notification may
 *     be left: the buffers belong to the caller then, and the schedule may be started again.
 * At the end of its round a get has its data, and what a put read may change. */

/* Opens a span to all other ranks, for the whole schedule.  Comes before all other steps, and on
 * all ranks equally often: the slots are counted in the order of calls.  Sizes may differ; an empty
 * span counts.  Returns the number of the slot. */
int cco_expose(cco_sched *s, cco_span span);

/* Writes to, or reads from, a peer's slot, from byte `place` of its data on; both ends must be ends
 * of elements there.  An empty span is no step. */
void cco_put(cco_sched *s, int peer, cco_span from, int slot, size_t place);
void cco_get(cco_sched *s, int peer, int slot, size_t place, cco_span to);

/* Tells a peer that the rounds before this one are over, and that what they put to it is there. */
void cco_notify(cco_sched *s, int peer);

/* The round ends only when the peer's notification has come: the n-th await of a peer matches its
 * n-th notify. */
void cco_await(cco_sched *s, int peer);

/* Opens the next round: what follows waits for everything before it. */
void cco_round(cco_sched *s);

/* Some of the ranks, in an order of their own: a schedule may be put together from schedules of
 * such groups.  Either a list, or the rank at one place of each node. */
typedef struct cco_group {
    const int *ranks; /* NULL: of each node, */
    const struct cco_node_map *nodes;
    int at, root; /* its at-th rank, if negative from the end; but of its node `root`; -1: none */
    int size, place; /* of this rank among them; -1: it is none of them */
} cco_group;

/* The rank at a place of a group. */
int cco_group_rank(const cco_group *group, int place);

/* From here on a peer is the place of a rank in a group; NULL: the rank itself again. */
void cco_within(cco_sched *s, const cco_group *group);

/* `n` bytes of memory for what the builder has to remember, aligned for any object, until the
 * schedule is built.  NULL if there is none: that is an error of the schedule, and the builder
 * returns. */
void *cco_builder_memory(cco_sched *s, size_t n);

/* Room for `n` bytes of data, whole elements in the layout of scratch; it lives as long as the
 * schedule. */
cco_span cco_scratch(cco_sched *s, size_t n);

/* `n` bytes of a span, from its byte `from` on; both ends must be ends of elements. */
cco_span cco_part(cco_sched *s, cco_span span, size_t from, size_t n);

#endif
