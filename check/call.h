/* SPDX-License-Identifier: BSD-3-Clause */
/* call.h - one collective call as data, and the ways to make it: the reference and each mode of
 * crestacoll.
 *
 * Compiled with -DPLAIN_MPI the calls are MPI_x instead of CRESTA_x: for runs under the preload
 * library.
 */
#ifndef CHECK_CALL_H
#define CHECK_CALL_H

#include <mpi.h>
#include <stdbool.h>

#include "check/collectives.h"
#include "graphs.h"

#ifdef PLAIN_MPI
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#else
#include <cresta_sp_coll.h>
#endif

#define COLLECTIVE_ENUM(Name, name) COLL_##Name,
enum coll { COLLECTIVES(COLLECTIVE_ENUM) COLLS };
#define WHOLE_COLLS COLL_Neighbor_allgather /* before that: they need no topology */
extern const char *const coll_names[COLLS];

/* What goes where; a side that does not have a block of every rank has one or none. */
struct coll_shape {
    bool moves, reduces; /* neither: a barrier */
    bool rooted;
    bool uneven; /* it has an array of counts */
    bool sends_all, receives_all;
    bool in_place; /* it may be */
    bool near;     /* its blocks are those of neighbours */
    bool ours;     /* no MPI has it: blocking and split only, under CRESTA_x */
};
extern const struct coll_shape coll_shapes[COLLS];

/* Arguments of any collective; reductions and bcast use the recv side for count and type. */
struct call {
    enum coll coll;
    const void *sendbuf;
    int sendcount;
    MPI_Datatype sendtype;
    const int *sendcounts, *senddispls;
    const MPI_Aint *sendbytes; /* displacements of neighbor_alltoallw */
    const MPI_Datatype *sendtypes;
    void *recvbuf;
    int recvcount;
    MPI_Datatype recvtype;
    const int *recvcounts, *recvdispls;
    const MPI_Aint *recvbytes;
    const MPI_Datatype *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_User_function *user; /* what op was made of, NULL if predefined */
    int commutes;
    const struct graph *graph; /* the communicator's topology, for neighbourhood collectives, */
    int rank;                  /* and this rank there */
};

/* Blocks in the arrays of a call, sent or received: one for each rank, or for each neighbour. */
int call_blocks(const struct call *call, bool sent);

enum mode {
    BLOCKING,
    NONBLOCKING,
    FREED, /* nonblocking; types and operations are freed in flight */
    SPLIT,
    SPLIT_FREED, /* arrays are overwritten and freed in flight too */
    PERSISTENT,
    LARGE,
    LARGE_NONBLOCKING,
    LARGE_PERSISTENT,
    LARGE_SPLIT,
    MODES
};
extern const char *const mode_names[MODES];

bool mode_exists(enum mode mode);                       /* does this MPI have it? */
bool mode_has(enum mode mode, const struct call *call); /* and this collective? */
bool mode_persistent(enum mode mode);
bool mode_split(enum mode mode);

/* Make the call. Blocking modes leave *request at MPI_REQUEST_NULL, persistent ones do not start
 * it. */
int call_make(enum mode mode, const struct call *call, MPI_Request *request);

/* A call as above, NONBLOCKING or SPLIT, with types and operations that are freed at once; SPLIT
 * with arrays too. */
int call_freed(enum mode mode, const struct call *call, MPI_Request *request);

/* The MPI's own: nonblocking, waiting politely (its blocking ones take milliseconds when
 * oversubscribed). */
int call_reference(const struct call *call);

/* Wait for *request without holding the core. */
int wait_politely(MPI_Request *request);

/* End what a mode began, each in its own way. */
int call_end(enum mode mode, MPI_Request *request);

#endif
