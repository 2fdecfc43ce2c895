/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - how each collective is called on a problem: the table of the benchmark. */
#include "bench.h"

#include <string.h>

#include "crestacoll.h"

const struct bench_calls bench_plain = {
    MPI_Barrier,    MPI_Bcast,     MPI_Gather,         MPI_Gatherv,
    MPI_Scatter,    MPI_Scatterv,  MPI_Reduce,         MPI_Allgather,
    MPI_Allgatherv, MPI_Allreduce, MPI_Reduce_scatter, MPI_Reduce_scatter_block,
    MPI_Alltoall,   MPI_Alltoallv, MPI_Alltoallw,      MPI_Scan,
    MPI_Exscan,
};

const struct bench_calls bench_cresta = {
    CRESTA_Barrier,    CRESTA_Bcast,     CRESTA_Gather,         CRESTA_Gatherv,
    CRESTA_Scatter,    CRESTA_Scatterv,  CRESTA_Reduce,         CRESTA_Allgather,
    CRESTA_Allgatherv, CRESTA_Allreduce, CRESTA_Reduce_scatter, CRESTA_Reduce_scatter_block,
    CRESTA_Alltoall,   CRESTA_Alltoallv, CRESTA_Alltoallw,      CRESTA_Scan,
    CRESTA_Exscan,
};

#define CALL(name)                                                                               \
    static int name(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm c,      \
                    int root, int slot)

CALL(barrier)
{
    (void)q, (void)root, (void)slot;
    return f->barrier(c);
}

CALL(bcast)
{
    return f->bcast(bench_recv(q, slot), q->count, q->type, root, c);
}

CALL(gather)
{
    return f->gather(bench_send(q, slot), q->count, q->type, bench_recv(q, slot), q->count,
                     q->type, root, c);
}

CALL(gatherv)
{
    return f->gatherv(bench_send(q, slot), q->counts[q->rank], q->type, bench_recv(q, slot),
                      q->counts, q->displs, q->type, root, c);
}

CALL(scatter)
{
    return f->scatter(bench_send(q, slot), q->count, q->type, bench_recv(q, slot), q->count,
                      q->type, root, c);
}

CALL(scatterv)
{
    return f->scatterv(bench_send(q, slot), q->counts, q->displs, q->type, bench_recv(q, slot),
                       q->counts[q->rank], q->type, root, c);
}

CALL(reduce)
{
    return f->reduce(bench_send(q, slot), bench_recv(q, slot), q->count, q->type, MPI_SUM, root,
                     c);
}

CALL(allgather)
{
    (void)root;
    return f->allgather(bench_send(q, slot), q->count, q->type, bench_recv(q, slot), q->count,
                        q->type, c);
}

CALL(allgatherv)
{
    (void)root;
    return f->allgatherv(bench_send(q, slot), q->counts[q->rank], q->type, bench_recv(q, slot),
                         q->counts, q->displs, q->type, c);
}

CALL(allreduce)
{
    (void)root;
    return f->allreduce(bench_send(q, slot), bench_recv(q, slot), q->count, q->type, MPI_SUM, c);
}

CALL(reduce_scatter)
{
    (void)root;
    return f->reduce_scatter(bench_send(q, slot), bench_recv(q, slot), q->totals, q->type,
                             MPI_SUM, c);
}

CALL(reduce_scatter_block)
{
    (void)root;
    return f->reduce_scatter_block(bench_send(q, slot), bench_recv(q, slot), q->count, q->type,
                                   MPI_SUM, c);
}

CALL(alltoall)
{
    (void)root;
    return f->alltoall(bench_send(q, slot), q->count, q->type, bench_recv(q, slot), q->count,
                       q->type, c);
}

/* The block from i to j is as long as block (i + j) mod p of the uneven list, so both ends know
 * it: see problem.c. */
CALL(alltoallv)
{
    (void)root;
    return f->alltoallv(bench_send(q, slot), q->counts, q->displs, q->type, bench_recv(q, slot),
                        q->counts, q->displs, q->type, c);
}

CALL(alltoallw)
{
    (void)root;
    return f->alltoallw(bench_send(q, slot), q->counts, q->displs, q->types, bench_recv(q, slot),
                        q->counts, q->displs, q->types, c);
}

CALL(scan)
{
    (void)root;
    return f->scan(bench_send(q, slot), bench_recv(q, slot), q->count, q->type, MPI_SUM, c);
}

CALL(exscan)
{
    (void)root;
    return f->exscan(bench_send(q, slot), bench_recv(q, slot), q->count, q->type, MPI_SUM, c);
}

static const struct bench_coll colls[] = {
    /* name, what a rank sends and receives, which ranks have a result, rooted, reduction */
    {"barrier",              BENCH_NOTHING,   BENCH_NOTHING,   BENCH_ALL, 0, 0, barrier},
    {"bcast",                BENCH_NOTHING,   BENCH_BLOCK,     BENCH_ALL, 1, 0, bcast},
    {"gather",               BENCH_BLOCK,     BENCH_BLOCKS,    BENCH_AT_ROOT, 1, 0, gather},
    {"gatherv",              BENCH_MINE,      BENCH_EVERYONES, BENCH_AT_ROOT, 1, 0, gatherv},
    {"scatter",              BENCH_BLOCKS,    BENCH_BLOCK,     BENCH_ALL, 1, 0, scatter},
    {"scatterv",             BENCH_EVERYONES, BENCH_MINE,      BENCH_ALL, 1, 0, scatterv},
    {"reduce",               BENCH_BLOCK,     BENCH_BLOCK,     BENCH_AT_ROOT, 1, 1, reduce},
    {"allgather",            BENCH_BLOCK,     BENCH_BLOCKS,    BENCH_ALL, 0, 0, allgather},
    {"allgatherv",           BENCH_MINE,      BENCH_EVERYONES, BENCH_ALL, 0, 0, allgatherv},
    {"allreduce",            BENCH_BLOCK,     BENCH_BLOCK,     BENCH_ALL, 0, 1, allreduce},
    {"reduce_scatter",       BENCH_BLOCK,     BENCH_SHARE,     BENCH_ALL, 0, 1, reduce_scatter},
    {"reduce_scatter_block", BENCH_BLOCKS, BENCH_BLOCK, BENCH_ALL, 0, 1, reduce_scatter_block},
    {"alltoall",             BENCH_BLOCKS,    BENCH_BLOCKS,    BENCH_ALL, 0, 0, alltoall},
    {"alltoallv",            BENCH_EVERYONES, BENCH_EVERYONES, BENCH_ALL, 0, 0, alltoallv},
    {"alltoallw",            BENCH_EVERYONES, BENCH_EVERYONES, BENCH_ALL, 0, 0, alltoallw},
    {"scan",                 BENCH_BLOCK,     BENCH_BLOCK,     BENCH_ALL, 0, 1, scan},
    {"exscan",               BENCH_BLOCK,     BENCH_BLOCK,     BENCH_NOT_FIRST, 0, 1, exscan},
};

const struct bench_coll *bench_coll_named(const char *name)
{
    for (size_t i = 0; i < sizeof colls / sizeof *colls; i++)
        if (strcmp(colls[i].name, name) == 0)
            return &colls[i];
    return NULL;
}

int bench_call(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm comm,
               int root, int slot)
{
    return q->coll->call(f, q, comm, root, slot);
}
