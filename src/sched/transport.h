/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.h - what carries out the steps of a schedule: one table of operations per transport.
 *
 * The engine opens one transfer per schedule and starts the steps of a round on it; the transport
 * moves on whenever it is tested.  Operations return MPI_SUCCESS or an MPI error class. */
#ifndef CCO_TRANSPORT_H
#define CCO_TRANSPORT_H

#include "reduce/exact_fold.h"
#include "mpi/mpi_compat.h"
#include "sched/problem.h"

/* An operation on the type of the elements that are reduced. */
typedef struct cco_reduce_op {
    MPI_Op op;
    cco_kernel kernel; /* NULL: the MPI's */
    cco_fold fold;     /* of sums that are rounded once; NULL: operand by operand */
} cco_reduce_op;

/* Elements in memory. */
typedef struct cco_data {
    char *at;
    size_t count;
    const cco_layout *layout;
} cco_data;

struct cco_engine;
struct cco_binding;

typedef struct cco_transport {
    const char *name;
    /* cco_engine_loop (engine_loop.h) with this transport; NULL: that of the engine. */
    int (*go_on)(struct cco_engine *e);
    /* All of a schedule, by cco_engine_pass with this transport; NULL: by `go_on` and `test`. */
    int (*run)(struct cco_engine *e, const struct cco_binding *binding);
    /* Tests before a wait gives the core to another rank, where ranks outnumber cores; 0: one.  For
     * transports that do not see in every test what has come. */
    int looks;
    bool tests_mpi; /* every test is one of the MPI, which may yield the core itself */
    bool words;     /* in a copy of 8 bytes, the engine need not call `copy`, nor `reduce` where the
                       operation has a kernel */
    bool empties;   /* only a message says that no other comes: neighbors send empty ones */
    bool sends_in_tests; /* messages leave in tests, not when they are started */
    /* A transfer for a schedule with at most `messages` in a round, one-sided steps counted as
     * such; NULL when memory runs out. `shared` is what the transfers of one communicator have in
     * common. */
    void *(*open)(void *shared, int messages);
    void (*close)(void *transfer); /* nothing is under way */
    /* Which call its messages are of (call/stamp.h), after `open`.  Receivers compare it with their
     * own.  NULL where messages do not say it. */
    void (*stamp)(void *transfer, uint64_t stamp);
    /* A blocking call comes, on all ranks in the same order, also where it fails before a schedule
     * starts.  An MPI error class if what another call left may be taken for its data.  NULL where
     * nothing has to be counted. */
    int (*call)(void *shared);
    /* A call fails on this rank before its schedule starts, and perhaps not on the others: what
     * they send for it must not be taken for data of a later one.  NULL where none comes. */
    void (*give_up)(void *shared);
    /* The schedule starts, on all ranks in the same order. */
    void (*begin)(void *transfer);
    /* It has ended, on this rank, without an error.  NULL where nothing has to be told. */
    void (*end)(void *transfer);
    /* Start a message; between two ranks they match in the order of calls. */
    int (*recv)(void *transfer, int peer, const cco_data *to);
    int (*send)(void *transfer, int peer, const cco_data *from);
    /* Moves on, without waiting; `done` when all that was started has come to its end. */
    int (*test)(void *transfer, bool *done);
    /* In a long wait: whether what it waits for can still come (base/watch.h).  MPI_SUCCESS, or the
     * class of the error with which the transfer ends.  NULL where nobody knows. */
    int (*lost)(void *transfer);
    /* Says whether one message of the open round is over, after a test that found not all of them
     * so: the `number`th that was started in it.  An error is one of `test`.  NULL where nothing is
     * known before the end of the round. */
    int (*over)(void *transfer, int number, bool *over);
    /* After an error: forgets what is under way. */
    void (*abandon)(void *transfer);
    /* Local steps: as many bytes of data on both sides; into = from op into. */
    int (*copy)(void *transfer, const cco_data *from, const cco_data *to);
    int (*reduce)(void *transfer, const cco_data *from, const cco_data *into,
                  const cco_reduce_op *op);
    /* One-sided steps, as sched.h says; NULL where a transport has none.  Slots are exposed after
     * begin, before the other one-sided steps.  For `test`, a put has ended when its data may
     * change, a get when its data are here, an await when the notification is; a notify need not
     * wait.  The first notification to a peer may bring what it has to know to reach the slots. */
    int (*expose)(void *transfer, int slot, const cco_data *data);
    int (*put)(void *transfer, int peer, const cco_data *from, int slot, size_t place);
    int (*get)(void *transfer, int peer, int slot, size_t place, const cco_data *to);
    int (*notify)(void *transfer, int peer);
    int (*await)(void *transfer, int peer);
} cco_transport;

static inline size_t cco_data_bytes(const cco_data *data)
{
    return data->count * data->layout->size;
}

#endif
