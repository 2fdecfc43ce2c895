/* SPDX-License-Identifier: BSD-3-Clause */
/* bound.h - a call as algorithms see it: its problem, and the memory to bind a schedule to.
 *
 * Data movement counts in bytes.  Elements without gaps are bytes where they lie; others pass
 * through transports as elements of their type, unless the bound call is packed: then they are
 * bytes in memory of ours, before and after.  Ranks may differ in this, since messages are the same
 * bytes. Reductions keep elements and type. */
#ifndef CCO_BOUND_H
#define CCO_BOUND_H

#include "comm/comm.h"
#include "plan/buffers.h"
#include "plan/workspace.h"
#include "sched/engine.h"

#define cco_layout_of_bytes ((cco_layout){1, 1, 0, true, MPI_BYTE})

typedef struct cco_bound {
    const cco_call *call;
    cco_problem problem; /* without parameters; its arrays are the workspace's */
    cco_binding binding; /* without scratch */
    cco_buffer in, out;
    bool in_place, packs_in, packs_out;
    ptrdiff_t low;           /* of the elements of a reduction */
    const cco_comm *differs; /* this rank gives itself other bytes than it takes: the lesser go, and
                                the call ends with MPI_ERR_TRUNCATE; NULL: it does not */
    size_t gives, takes;     /* how many */
} cco_bound;

/* Describes a call whose arguments are right (plan/arguments.h); packed if it says so, or if the
 * types leave no choice.  Returns MPI_SUCCESS or an MPI error class. */
int cco_bound_make(cco_bound *f, const cco_comm *state, const cco_call *call, bool packed,
                   cco_workspace *workspace);

/* The buffers of a call that it reads and writes on this rank; of one in place, where its data are.
 * Returns whether it is in place. */
bool cco_bound_ends(const cco_comm *state, const cco_call *call, cco_buffer *in, cco_buffer *out);

int cco_bound_pack(const cco_bound *f);
int cco_bound_unpack(const cco_bound *f);

/* The parts of the latter: a block that has come, and then all but those that are `done`; NULL:
 * none is. */
int cco_bound_unpack_block(const cco_bound *f, int block);
int cco_bound_unpack_rest(const cco_bound *f, const bool *done);

#endif
