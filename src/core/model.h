/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - what an implementation is to the rest: a name and a function that runs a call. */
#ifndef CCO_MODEL_H
#define CCO_MODEL_H

#include "core/call.h"

struct cco_comm;

typedef struct cco_model {
    const char *name;    /* as users write it, "nonblock" */
    const char *doc;     /* one line */
    const char *lacking; /* why this build cannot run it; NULL if it can */
    const struct cco_model
        *below; /* what runs instead of what it refuses; NULL for `mpi`, which refuses nothing */
    /* Why it must not run a collective here; NULL if it may.  The same answer on all ranks.  May be
     * NULL itself. */
    const char *(*refuses)(cco_coll coll);
    /* Runs a blocking call on a set-up intracommunicator, any collective.  Returns MPI_SUCCESS or
     * an MPI error class, after the communicator's error handler was called. */
    int (*run)(struct cco_comm *state, const cco_call *call);
} cco_model;

#endif
