/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_reduce.c - see neighbor_reduce.h. */
#include "native/neighbor_reduce.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_check.h"
#include "call/data.h"
#include "comm/neighbors.h"
#include "call/raise.h"
#include "wait/wait.h"
#include "native/natives.h"

/* Vectors of all sources, one after the other. */
typedef struct vectors {
    char *memory;
    char *first;     /* where the elements of the first are counted from */
    ptrdiff_t pitch; /* from one to the next */
    MPI_Aint extent; /* of an element */
} vectors;

static int neighbor_reduce_tell(const cco_call *c, int error)
{
    return cco_raise_in(c->comm, c->coll, error);
}

/* What no exchange of the MPI would notice: it knows no operation, and MPI_IN_PLACE of none. */
int cco_neighbor_reduce_wrong(const cco_call *c)
{
    if (c->comm == MPI_COMM_NULL)
        return MPI_ERR_COMM;
    if (cco_topology_kind(c->comm) == MPI_UNDEFINED)
        return MPI_ERR_TOPOLOGY;
    if (c->recvcount < 0)
        return MPI_ERR_COUNT;
    if (!cco_is_type(c->recvtype))
        return MPI_ERR_TYPE;
    if (!cco_is_op(c->op))
        return MPI_ERR_OP;
    if (c->sendbuf == MPI_IN_PLACE && !cco_takes_in_place(c->coll))
        return MPI_ERR_BUFFER;
    return cco_mpi_check_op(c->op, c->recvtype);
}

static int neighbor_reduce_make_room(vectors *v, const cco_call *c, int n)
{
    MPI_Aint low, reach, start;
    int rc = PMPI_Type_get_extent(c->recvtype, &start, &v->extent);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_get_true_extent(c->recvtype, &low, &reach);
    if (rc != MPI_SUCCESS)
        return rc;
    const ptrdiff_t elements = (ptrdiff_t)c->recvcount * n, span = elements * v->extent;
    const ptrdiff_t step = v->extent < 0 ? -v->extent : v->extent;
    v->pitch = (ptrdiff_t)c->recvcount * v->extent;
    v->memory = malloc((size_t)(elements * step + reach) + 1);
    v->first = (char *)((uintptr_t)v->memory - (uintptr_t)low -
                        (uintptr_t)(span < 0 ? span - v->extent : 0));
    return v->memory != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The exchange without the operation: the MPI's call, or its non-blocking one. */
static int bring_at_once(const cco_call *c, const void *from, void *to)
{
    const cco_natives *n = &cco_native[CCO_CALLER_INTERNAL];
    const bool each = cco_coll_infos[c->coll].in == CCO_NEAR;
#if defined(CRESTA_HAVE_LARGE_COUNT)
    if (c->large)
        return (each ? n->Neighbor_alltoall_c : n->Neighbor_allgather_c)(
            from, c->recvcount, c->recvtype, to, c->recvcount, c->recvtype, c->comm);
#endif
    const int count = (int)c->recvcount;
    return (each ? n->Neighbor_alltoall : n->Neighbor_allgather)(from, count, c->recvtype, to,
                                                                 count, c->recvtype, c->comm);
}

static int bring_waiting(const cco_call *c, const void *from, void *to, MPI_Request *request)
{
    const cco_natives *n = &cco_native[CCO_CALLER_INTERNAL];
    const bool each = cco_coll_infos[c->coll].in == CCO_NEAR;
#if defined(CRESTA_HAVE_LARGE_COUNT)
    if (c->large)
        return (each ? n->Ineighbor_alltoall_c : n->Ineighbor_allgather_c)(
            from, c->recvcount, c->recvtype, to, c->recvcount, c->recvtype, c->comm, request);
#endif
    const int count = (int)c->recvcount;
    return (each ? n->Ineighbor_alltoall : n->Ineighbor_allgather)(
        from, count, c->recvtype, to, count, c->recvtype, c->comm, request);
}

static int neighbor_reduce_bring(const cco_call *c, const vectors *v, bool politely)
{
    const void *from = c->sendbuf == MPI_IN_PLACE ? c->recvbuf : c->sendbuf;
    MPI_Request request = MPI_REQUEST_NULL;
    if (!politely)
        return bring_at_once(c, from, v->first);
    const int rc = bring_waiting(c, from, v->first, &request);
    return rc == MPI_SUCCESS ? cco_wait(&request) : rc;
}

/* into = from op into, with counts that no int says in pieces. */
static int neighbor_reduce_reduce(const cco_call *c, const vectors *v, char *from, char *into)
{
    int rc = MPI_SUCCESS;
    for (MPI_Count left = c->recvcount; left > 0 && rc == MPI_SUCCESS;) {
        const int n = left > INT_MAX ? INT_MAX : (int)left;
        rc = PMPI_Reduce_local(from, into, n, c->recvtype, c->op);
        from += n * v->extent;
        into += n * v->extent;
        left -= n;
    }
    return rc;
}

/* The last vector, where the reduction is in the end, to the receive buffer. */
static int neighbor_reduce_give(const cco_call *c, const char *from)
{
    const size_t n = (size_t)c->recvcount, bytes = n * (size_t)cco_type_size(c->recvtype);
    if (cco_type_predefined(c->recvtype) && cco_type_dense(c->recvtype)) {
        memcpy(c->recvbuf, from, bytes);
        return MPI_SUCCESS;
    }
    char *packed = malloc(bytes + 1);
    int rc = packed != NULL ? cco_type_pack(packed, from, n, c->recvtype) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = cco_type_unpack(c->recvbuf, n, c->recvtype, packed);
    free(packed);
    return rc;
}

static int neighbor_reduce_fold(const cco_call *c, const vectors *v, const cco_neighbors *near)
{
    char *last = NULL;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < near->degrees.in && rc == MPI_SUCCESS; i++) {
        char *next = (char *)((uintptr_t)v->first + (uintptr_t)(v->pitch * i));
        if (near->in[i] == CCO_NO_PEER)
            continue;
        if (last != NULL)
            rc = neighbor_reduce_reduce(c, v, last, next);
        last = next;
    }
    return rc == MPI_SUCCESS && last != NULL ? neighbor_reduce_give(c, last) : rc;
}

static int neighbor_reduce_run(const cco_call *c, bool politely)
{
    vectors v = {.memory = NULL};
    const int error = cco_neighbor_reduce_wrong(c);
    if (error != MPI_SUCCESS)
        return neighbor_reduce_tell(c, error);
    cco_neighbors *near = cco_neighbors_of(c->comm);
    int rc = neighbor_reduce_make_room(&v, c, near->degrees.in);
    if (rc != MPI_SUCCESS) {
        neighbor_reduce_tell(c, rc);
    } else if ((rc = neighbor_reduce_bring(c, &v, politely)) == MPI_SUCCESS) {
        rc = neighbor_reduce_fold(c, &v, near);
        if (rc != MPI_SUCCESS)
            neighbor_reduce_tell(c, rc);
    }
    free(v.memory);
    cco_neighbors_drop(near);
    return rc;
}

int cco_neighbor_reduce(const cco_call *call)
{
    return neighbor_reduce_run(call, false);
}

int cco_neighbor_reduce_politely(const cco_call *call)
{
    return neighbor_reduce_run(call, true);
}
