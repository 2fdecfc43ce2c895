/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - makes one collective call in each mode. */
#include "call.h"

#include <sched.h>

#define NAME(Name, name) #name,
const char *const coll_names[COLLS] = {COLLECTIVES(NAME)};
#define SHAPE(Name, name) {SHAPE_##Name},
const struct coll_shape coll_shapes[COLLS] = {COLLECTIVES(SHAPE)};
const char *const mode_names[MODES] = {
    "blocking", "nonblocking",       "freed in flight",  "split",      "split freed", "persistent",
    "large",    "large nonblocking", "large persistent", "large split"};

#ifdef PLAIN_MPI /* which name a call goes by */
#define CALL(name) MPI_##name
#define CALLED_COLLECTIVES MPI_COLLECTIVES
#define CRESTA_HAVE_PERSISTENT 1
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define CALL_INIT(name) MPIX_##name
#else
#define CALL_INIT(name) MPI_##name
#endif
#if MPI_VERSION >= 4
#define CRESTA_HAVE_LARGE_COUNT 1
#endif
#else
#define CALL(name) CRESTA_##name
#define CALLED_COLLECTIVES COLLECTIVES
#define CALL_INIT(name) CRESTA_##name
#endif

#define DO_REFERENCE(Name, name)                                                                   \
    case COLL_##Name:                                                                              \
        return PMPI_I##name(ARGS_##Name, request);
#define DO_BLOCKING(Name, name)                                                                    \
    case COLL_##Name:                                                                              \
        return CALL(Name)(ARGS_##Name);
#define DO_NONBLOCK(Name, name)                                                                    \
    case COLL_##Name:                                                                              \
        return CALL(I##name)(ARGS_##Name, request);
#define DO_SPLIT(Name, name)                                                                       \
    case COLL_##Name:                                                                              \
        return CRESTA_##Name##_begin(ARGS_##Name, request);
#define DO_PERSIST(Name, name)                                                                     \
    case COLL_##Name:                                                                              \
        return CALL_INIT(Name##_init)(ARGS_##Name, MPI_INFO_NULL, request);

int call_blocks(const struct call *call, bool sent)
{
    int n, inter;
    if (coll_shapes[call->coll].near)
        return (sent ? call->graph->out : call->graph->in)[call->rank].count;
    PMPI_Comm_size(call->comm, &n);
    PMPI_Comm_test_inter(call->comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(call->comm, &n);
    return n;
}

static int reference(const struct call *q, MPI_Request *request)
{
    switch (q->coll) {
        MPI_COLLECTIVES(DO_REFERENCE)
    default:
        return MPI_ERR_OTHER;
    }
}

static int blocking(const struct call *q)
{
    switch (q->coll) {
        CALLED_COLLECTIVES(DO_BLOCKING)
    default:
        return MPI_ERR_OTHER;
    }
}

static int nonblocking(const struct call *q, MPI_Request *request)
{
    switch (q->coll) {
        MPI_COLLECTIVES(DO_NONBLOCK)
    default:
        return MPI_ERR_OTHER;
    }
}

static int split(const struct call *q, MPI_Request *request)
{
#ifndef PLAIN_MPI
    switch (q->coll) {
        COLLECTIVES(DO_SPLIT)
    default:
        return MPI_ERR_OTHER;
    }
#else
    (void)q, (void)request;
    return MPI_ERR_OTHER;
#endif
}

static int persistent(const struct call *q, MPI_Request *request)
{
#ifdef CRESTA_HAVE_PERSISTENT
    switch (q->coll) {
        MPI_COLLECTIVES(DO_PERSIST)
    default:
        return MPI_ERR_OTHER;
    }
#else
    (void)q, (void)request;
    return MPI_ERR_OTHER;
#endif
}

/* ---- large counts: the same call with wide arrays, kept until the next one ---- */

#ifdef CRESTA_HAVE_LARGE_COUNT
#define Barrier_c Barrier /* no counts, so no large form */
#define Ibarrier_c Ibarrier
#define Barrier_init_c Barrier_init
#define Barrier_begin_c Barrier_begin

#define DO_LARGE(Name, name)                                                                       \
    case COLL_##Name:                                                                              \
        return WIDE(Name##_c)(ARGS_##Name);
#define DO_LARGE_NONBLOCK(Name, name)                                                              \
    case COLL_##Name:                                                                              \
        return WIDE(I##name##_c)(ARGS_##Name, request);
#define DO_LARGE_SPLIT(Name, name)                                                                 \
    case COLL_##Name:                                                                              \
        return WIDE(Name##_begin_c)(ARGS_##Name, request);
#define DO_LARGE_PERSIST(Name, name)                                                               \
    case COLL_##Name:                                                                              \
        return WIDE_INIT(Name##_init_c)(ARGS_##Name, MPI_INFO_NULL, request);
#define WIDE(name) WIDE_(name) /* expands Barrier_c first */
#define WIDE_(name) CALL(name)
#define WIDE_INIT(name) WIDE_INIT_(name)
#define WIDE_INIT_(name) CALL_INIT(name)

struct wide { /* struct call, with the names the macros above use */
    enum coll coll;
    const void *sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    MPI_Count *sendcounts;
    MPI_Aint *senddispls;
    const MPI_Aint *sendbytes;
    const MPI_Datatype *sendtypes;
    void *recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
    MPI_Count *recvcounts;
    MPI_Aint *recvdispls;
    const MPI_Aint *recvbytes;
    const MPI_Datatype *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

enum { WIDEST = 256 };

static void *widen_counts(MPI_Count *to, const int *from, int n)
{
    for (int i = 0; from && i < n; i++)
        to[i] = from[i];
    return from ? to : NULL;
}

static void *widen_displs(MPI_Aint *to, const int *from, int n)
{
    for (int i = 0; from && i < n; i++)
        to[i] = from[i];
    return from ? to : NULL;
}

static int large(enum mode mode, const struct call *c, MPI_Request *request)
{
    static MPI_Count counts[2][WIDEST];
    static MPI_Aint displs[2][WIDEST];
    const int sent = call_blocks(c, true), received = call_blocks(c, false);
    const struct wide wide =
                          {
                              c->coll,
                              c->sendbuf,
                              c->sendcount,
                              c->sendtype,
                              widen_counts(counts[0], c->sendcounts, sent),
                              widen_displs(displs[0], c->senddispls, sent),
                              c->sendbytes,
                              c->sendtypes,
                              c->recvbuf,
                              c->recvcount,
                              c->recvtype,
                              widen_counts(counts[1], c->recvcounts, received),
                              widen_displs(displs[1], c->recvdispls, received),
                              c->recvbytes,
                              c->recvtypes,
                              c->op,
                              c->root,
                              c->comm,
                          },
                      *q = &wide;
    if (mode == LARGE)
        switch (q->coll) {
            CALLED_COLLECTIVES(DO_LARGE)
        default:
            return MPI_ERR_OTHER;
        }
    if (mode == LARGE_NONBLOCKING)
        switch (q->coll) {
            MPI_COLLECTIVES(DO_LARGE_NONBLOCK)
        default:
            return MPI_ERR_OTHER;
        }
#ifndef PLAIN_MPI
    if (mode == LARGE_SPLIT)
        switch (q->coll) {
            COLLECTIVES(DO_LARGE_SPLIT)
        default:
            return MPI_ERR_OTHER;
        }
#endif
    switch (q->coll) {
        MPI_COLLECTIVES(DO_LARGE_PERSIST)
    default:
        return MPI_ERR_OTHER;
    }
}
#else
static int large(enum mode mode, const struct call *call, MPI_Request *request)
{
    (void)mode, (void)call, (void)request;
    return MPI_ERR_OTHER;
}
#endif

bool mode_persistent(enum mode mode)
{
    return mode == PERSISTENT || mode == LARGE_PERSISTENT;
}

bool mode_split(enum mode mode)
{
    return mode == SPLIT || mode == SPLIT_FREED || mode == LARGE_SPLIT;
}

bool mode_exists(enum mode mode)
{
#ifdef PLAIN_MPI
    if (mode_split(mode))
        return false;
#endif
#ifndef CRESTA_HAVE_PERSISTENT
    if (mode_persistent(mode))
        return false;
#endif
#ifndef CRESTA_HAVE_LARGE_COUNT
    if (mode >= LARGE)
        return false;
#endif
    return mode < MODES;
}

/* An operation of the program must outlive a begun call of those that no MPI has. */
bool mode_has(enum mode mode, const struct call *call)
{
#ifdef PLAIN_MPI
    if (coll_shapes[call->coll].ours)
        return false;
#endif
    if (!coll_shapes[call->coll].ours || mode == BLOCKING || mode == LARGE)
        return true;
    return mode_split(mode) && (mode != SPLIT_FREED || call->user == NULL);
}

int call_make(enum mode mode, const struct call *call, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    switch (mode) {
    case BLOCKING:
        return blocking(call);
    case NONBLOCKING:
        return nonblocking(call, request);
    case FREED:
        return call_freed(NONBLOCKING, call, request);
    case SPLIT:
        return split(call, request);
    case SPLIT_FREED:
        return call_freed(SPLIT, call, request);
    case PERSISTENT:
        return persistent(call, request);
    default:
        return large(mode, call, request);
    }
}

int call_reference(const struct call *call)
{
    MPI_Request request;
    const int rc = reference(call, &request);
    return rc == MPI_SUCCESS ? wait_politely(&request) : rc;
}

int wait_politely(MPI_Request *request)
{
    int done = 0, rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && !done) {
        rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            sched_yield();
    }
    return rc;
}

int call_end(enum mode mode, MPI_Request *request)
{
#ifndef PLAIN_MPI
    int done = 0, rc = MPI_SUCCESS;
    if (mode == SPLIT)
        return CRESTA_Coll_end(1, request);
    while (mode == LARGE_SPLIT && rc == MPI_SUCCESS && !done)
        rc = CRESTA_Coll_test(1, request, &done);
    while (mode == SPLIT_FREED && rc == MPI_SUCCESS && !done) {
        rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    if (mode_split(mode))
        return rc;
#endif
    (void)mode;
    return wait_politely(request);
}
