/* SPDX-License-Identifier: BSD-3-Clause */
/* where_comm.h - what a roll-call tells of a communicator (hang/whereabouts.h), and a call on it as
 * a stay. */
#ifndef CCO_WHERE_COMM_H
#define CCO_WHERE_COMM_H

#include "comm/comm.h"
#include "hang/whereabouts.h"

enum { CCO_WHERE_MEMBERS = 1024 };

/* Kept with the state of a communicator, and read by another thread under cco_where_lock. */
typedef struct cco_where_comm {
    char name[64];
    int rank, size;
    bool inter;
    int leader;     /* its rank 0 in MPI_COMM_WORLD; -1: in another world */
    uint64_t id;    /* agreed on in its set-up; with the leader it names the communicator.  0: it
                       is not set up */
    int64_t number; /* of collectives of this rank on it so far */
    char members[CCO_WHERE_MEMBERS]; /* the ranks in MPI_COMM_WORLD of its ranks, in their order:
                                        "0-3,7"; "" if that would be too long, or unknown */
} cco_where_comm;

/* That of a communicator, made when it is first asked for: before calls of several threads, or in a
 * collective, which one thread at a time may be in there.  NULL where there can be none.  Local. */
cco_where_comm *cco_where_comm_of_handle(MPI_Comm comm);

/* Into a send, receive or probe `name`, or a wait for requests: a constant, without MPI_.  `to`,
 * `from`, `tag` may be CCO_STAY_NOBODY. */
void cco_where_enter_message(const char *name, MPI_Comm comm, int to, int from, int tag);
void cco_where_enter_wait(const char *name, int requests);

/* The name of an operation as in the standard; "user-defined" for all others. */
const char *cco_where_op_name(MPI_Op op);

#endif
