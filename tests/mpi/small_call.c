/* SPDX-License-Identifier: BSD-3-Clause */
#include "small_call.h"

enum { MOST = 16 };

static int in[MOST], out[MOST], ones[MOST], displs[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

struct call small_call(enum coll coll, MPI_Comm comm)
{
    for (int i = 0; i < MOST; i++)
        ones[i] = 1, displs[i] = i, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    const int *const places = coll == COLL_Alltoallw ? bytes : displs;
    return (struct call){
        .coll = coll,
        .sendbuf = in,
        .sendcount = 1,
        .sendtype = MPI_INT,
        .sendcounts = ones,
        .senddispls = places,
        .sendtypes = types,
        .recvbuf = out,
        .recvcount = 1,
        .recvtype = MPI_INT,
        .recvcounts = ones,
        .recvdispls = places,
        .recvtypes = types,
        .op = MPI_SUM,
        .comm = comm,
    };
}
