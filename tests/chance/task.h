/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - one random operation, a collective or a message, with its buffers. */
#ifndef CHANCE_TASK_H
#define CHANCE_TASK_H

#include "shape.h"

enum { NO_PARTNER = -1 };

struct task {
    struct call call;
    enum mode mode;
    struct side send, recv;
    struct slot *slot;
    enum cell cell;
    int values;
    bool positive, in_place, unseen; /* unseen: nothing is said about the receive buffer */
    bool zero;                       /* types without data take part */
    bool op_made;
    dice seed;           /* of what the buffers hold */
    int partner, tag, n; /* of a message; n: its bytes, as MPI_BYTE counts them */
    int record;          /* where the result of this start goes; -1: this rank has none */
};

/* A collective on the slot; all its members give the same dice. */
struct task *task_collective(struct slot *slot, enum coll coll, enum mode mode, dice d);

/* One side of a message that all members of the slot pass on in a ring. */
struct task *task_message(struct slot *slot, bool sending, int tag, dice d);

/* Fills its buffers; the record takes the result. */
void task_fill(struct task *task, int record, dice d);

/* Makes the call. */
int task_call(struct task *task, MPI_Request *request);

/* Types, operation and, where the mode says so, arrays are no longer needed by the program. */
void task_forget(struct task *task);

/* What its buffers hold, and the class of the code. */
unsigned long task_result(const struct task *task, int rc);

/* It is over: its result goes to its record. */
void task_over(struct task *task, int rc);
void task_free(struct task *task);

/* A call of the plain MPI, as call_make(). */
int plain_call(enum mode mode, const struct call *call, bool polite, MPI_Request *request);

/* What a reduction is of. */
struct kit {
    MPI_Datatype type;
    struct shape shape;
    MPI_Op op;
    MPI_User_function *user;
    bool commutes, positive;
    enum cell cell;
    int values;
};

/* gaps: its elements may have one behind them. */
void kit_by_chance(struct kit *kit, bool gaps, dice *d);

#endif
