/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - copies of the arrays of a call (MPI 4.0, section 6.12: the program must not change
 * them before the end; here it may). */
#include "progress/copies.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "native/defects.h"
#include "native/empty.h"
#include "progress/call_shape.h"
#include "progress/copies_send.h"
#include "call/data.h"
#include "mpi/dup_bare.h"
#include "call/raise.h"

enum { ARRAYS = 6 };

/* An array of a call: where the call points to it, how large it is. */
typedef struct array {
    const void **from;
    size_t bytes;
} array;

static size_t round_up(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

/* The arrays that a call has, those that mean nothing on this rank left out. */
static int copies_list_arrays(cco_call *c, const cco_call_shape *shape, array list[ARRAYS])
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    const bool rooted = info->properties & CCO_ROOTED;
    const bool sends = c->sendbuf != MPI_IN_PLACE || info->in & CCO_AT_ROOT;
    const size_t sent = sends ? (size_t)cco_call_shape_blocks(c, shape, true) : 0;
    const size_t received = (size_t)cco_call_shape_blocks(c, shape, false);
    const size_t count = c->large ? sizeof(MPI_Count) : sizeof(int);
    const size_t displ = cco_displs_are_wide(c) ? sizeof(MPI_Aint) : sizeof(int);
    const array all[ARRAYS] = {
        {&c->sendcounts, sent * count},
        {&c->senddispls, sent * displ},
        {(const void **)&c->sendtypes, sent * sizeof *c->sendtypes},
        {&c->recvcounts, received * count},
        {&c->recvdispls, received * displ},
        {(const void **)&c->recvtypes, received * sizeof *c->recvtypes},
    };
    int found = 0;
    for (int i = 0; i < ARRAYS && (!rooted || cco_call_shape_root(c, shape)); i++)
        if (*all[i].from != NULL && all[i].bytes > 0)
            list[found++] = all[i];
    return found;
}

/* Room for the arrays, and the arrays in it. */
static cco_copies *copy_listed(cco_call *c, const cco_call_shape *shape)
{
    array list[ARRAYS];
    const int count = copies_list_arrays(c, shape, list);
    size_t room = 0;
    for (int i = 0; i < count; i++)
        room += round_up(list[i].bytes);
    cco_copies *copies = malloc(sizeof *copies + room);
    if (copies == NULL)
        return NULL;
    *copies = (cco_copies){.send = NULL};
    char *at = copies->arrays;
    for (int i = 0; i < count; i++) {
        *list[i].from = memcpy(at, *list[i].from, list[i].bytes);
        at += round_up(list[i].bytes);
    }
    return copies;
}

/* Where the MPI cannot do an alltoallv or alltoallw in place, what it sends is a copy. */
static bool sends_copy_instead(cco_call *c)
{
    if (!cco_in_place_defect(c))
        return false;
    c->sendbuf = c->recvbuf;
    c->sendcounts = c->recvcounts;
    c->senddispls = c->recvdispls;
    c->sendtype = c->recvtype;
    c->sendtypes = c->recvtypes;
    return true;
}

/* MPI_IN_PLACE as a send buffer is nothing to copy; a bcast has one buffer, a barrier none. */
static bool is_protected(const cco_call *c)
{
    return cco_configured.protect && cco_coll_infos[c->coll].in != CCO_NONE &&
           c->sendbuf != MPI_IN_PLACE;
}

static bool copies_has_arrays(const cco_call *c)
{
    return c->sendcounts != NULL || c->recvcounts != NULL;
}

int cco_copy_arrays(cco_call *call, cco_copies **copies)
{
    cco_call_shape shape;
    *copies = NULL;
    if (call->comm == MPI_COMM_NULL || (!copies_has_arrays(call) && !is_protected(call)))
        return MPI_SUCCESS;
    int rc = cco_call_shape_of(call, &shape);
    if (rc != MPI_SUCCESS)
        return rc;
    const bool sends_copy = sends_copy_instead(call) || is_protected(call);
    *copies = copy_listed(call, &shape);
    rc = *copies == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && sends_copy)
        rc = cco_copy_send(call, &shape, &(*copies)->send);
    if (rc == MPI_SUCCESS)
        return rc;
    cco_copies_free(*copies);
    *copies = NULL;
    return rc;
}

int cco_copy_only_arrays(cco_call *call, cco_copies **copies)
{
    cco_call_shape shape;
    *copies = NULL;
    if (!copies_has_arrays(call))
        return MPI_SUCCESS;
    const int rc = cco_call_shape_of(call, &shape);
    if (rc != MPI_SUCCESS)
        return rc;
    *copies = copy_listed(call, &shape);
    return *copies != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int cco_copy_for_mpi(cco_call *call, cco_copies *copies)
{
    cco_call_shape shape;
    if (copies == NULL)
        return MPI_SUCCESS;
    if (copies_has_arrays(call) && cco_call_shape_of(call, &shape) == MPI_SUCCESS)
        cco_drop_empty(call,
                       (cco_degrees){cco_call_shape_blocks(call, &shape, false),
                                     cco_call_shape_blocks(call, &shape, true)},
                       cco_call_shape_root(call, &shape), &copies->counts);
    return cco_copy_types(call, &copies->held);
}

void cco_copies_free(cco_copies *copies)
{
    if (copies == NULL)
        return;
    free(copies->send);
    free(copies->types[0]);
    free(copies->types[1]);
    free(copies->counts);
    cco_held_free(copies->held);
    free(copies);
}

/* Types of an MPI_Ialltoallw where Open MPI reads as many as a grid has neighbors, and holds no
 * others until the end (native/defects.h): the arrays are long enough. */
struct cco_held {
    int count;
    MPI_Datatype list[]; /* of both sides */
};

void cco_held_free(cco_held *held)
{
    for (int i = 0; held != NULL && i < held->count; i++)
        if (cco_type_derived(held->list[i]))
            PMPI_Type_free(&held->list[i]);
    free(held);
}

/* Adds those of one side, and what is read behind them. */
static int add_side(cco_held *held, const MPI_Datatype *types, int peers, int room)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < room && rc == MPI_SUCCESS; i++) {
        MPI_Datatype type = i < peers ? types[i] : MPI_BYTE;
        if (cco_type_derived(type))
            rc = cco_type_dup_bare(type, &type);
        if (rc == MPI_SUCCESS)
            held->list[held->count++] = type;
    }
    return rc;
}

int cco_copy_types(cco_call *call, cco_held **held)
{
    cco_call_shape shape;
    *held = NULL;
    if (!cco_grid_defect(call))
        return MPI_SUCCESS;
    int rc = cco_call_shape_of(call, &shape);
    if (rc != MPI_SUCCESS)
        return rc;
    const int neighbors = cco_grid_neighbors(call->comm);
    const int room = neighbors > shape.peers ? neighbors : shape.peers;
    cco_held *types = malloc(sizeof *types + 2 * (size_t)room * sizeof(MPI_Datatype));
    rc = types == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (rc == MPI_SUCCESS) {
        types->count = 0;
        rc = add_side(types, call->sendtypes, shape.peers, room);
    }
    if (rc == MPI_SUCCESS)
        rc = add_side(types, call->recvtypes, shape.peers, room);
    *held = types;
    if (rc != MPI_SUCCESS)
        return cco_raise_in(call->comm, call->coll, rc);
    call->sendtypes = types->list;
    call->recvtypes = types->list + room;
    return MPI_SUCCESS;
}
