/* SPDX-License-Identifier: BSD-3-Clause */
/* begin.c - the begins of all collectives as calls of the benchmark's table. */
#include "bench.h"

#include "cresta_sp_coll.h"

static MPI_Request begun = MPI_REQUEST_NULL;
static int ends_at_once;

void bench_begin_ends_at_once(int yes)
{
    ends_at_once = yes;
}

int bench_end(void)
{
    return CRESTA_Coll_end(1, &begun);
}

static int after(int rc)
{
    return rc == MPI_SUCCESS && ends_at_once ? bench_end() : rc;
}

static int barrier(MPI_Comm a)
{
    return after(CRESTA_Barrier_begin(a, &begun));
}

static int bcast(void *a, int b, MPI_Datatype c, int d, MPI_Comm e)
{
    return after(CRESTA_Bcast_begin(a, b, c, d, e, &begun));
}

static int gather(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g,
                  MPI_Comm h)
{
    return after(CRESTA_Gather_begin(a, b, c, d, e, f, g, h, &begun));
}

static int gatherv(const void *a, int b, MPI_Datatype c, void *d, const int *e, const int *f,
                   MPI_Datatype g, int h, MPI_Comm i)
{
    return after(CRESTA_Gatherv_begin(a, b, c, d, e, f, g, h, i, &begun));
}

static int scatter(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, int g,
                   MPI_Comm h)
{
    return after(CRESTA_Scatter_begin(a, b, c, d, e, f, g, h, &begun));
}

static int scatterv(const void *a, const int *b, const int *c, MPI_Datatype d, void *e, int f,
                    MPI_Datatype g, int h, MPI_Comm i)
{
    return after(CRESTA_Scatterv_begin(a, b, c, d, e, f, g, h, i, &begun));
}

static int reduce(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, int f, MPI_Comm g)
{
    return after(CRESTA_Reduce_begin(a, b, c, d, e, f, g, &begun));
}

static int allgather(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f,
                     MPI_Comm g)
{
    return after(CRESTA_Allgather_begin(a, b, c, d, e, f, g, &begun));
}

static int allgatherv(const void *a, int b, MPI_Datatype c, void *d, const int *e, const int *f,
                      MPI_Datatype g, MPI_Comm h)
{
    return after(CRESTA_Allgatherv_begin(a, b, c, d, e, f, g, h, &begun));
}

static int allreduce(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f)
{
    return after(CRESTA_Allreduce_begin(a, b, c, d, e, f, &begun));
}

static int reduce_scatter(const void *a, void *b, const int *c, MPI_Datatype d, MPI_Op e,
                          MPI_Comm f)
{
    return after(CRESTA_Reduce_scatter_begin(a, b, c, d, e, f, &begun));
}

static int reduce_scatter_block(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f)
{
    return after(CRESTA_Reduce_scatter_block_begin(a, b, c, d, e, f, &begun));
}

static int alltoall(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f,
                    MPI_Comm g)
{
    return after(CRESTA_Alltoall_begin(a, b, c, d, e, f, g, &begun));
}

static int alltoallv(const void *a, const int *b, const int *c, MPI_Datatype d, void *e,
                     const int *f, const int *g, MPI_Datatype h, MPI_Comm i)
{
    return after(CRESTA_Alltoallv_begin(a, b, c, d, e, f, g, h, i, &begun));
}

static int alltoallw(const void *a, const int *b, const int *c, const MPI_Datatype *d, void *e,
                     const int *f, const int *g, const MPI_Datatype *h, MPI_Comm i)
{
    return after(CRESTA_Alltoallw_begin(a, b, c, d, e, f, g, h, i, &begun));
}

static int scan(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f)
{
    return after(CRESTA_Scan_begin(a, b, c, d, e, f, &begun));
}

static int exscan(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f)
{
    return after(CRESTA_Exscan_begin(a, b, c, d, e, f, &begun));
}

const struct bench_calls bench_begins = {
    barrier,  bcast,     gather,     gatherv,   scatter,        scatterv,
    reduce,   allgather, allgatherv, allreduce, reduce_scatter, reduce_scatter_block,
    alltoall, alltoallv, alltoallw,  scan,      exscan,
};
