/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_types.c - the types of an MPI_Ialltoallw where Open MPI reads as many as a grid has
 * neighbors, and holds no others until the end (native/defects.h): arrays that are long enough, of
 * types that the program cannot free. */
#include "progress/copies_types.h"

#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "mpi/dup_bare.h"
#include "core/raise.h"
#include "native/defects.h"
#include "progress/call_shape.h"

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
