/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - how each collective is called on a problem: the table of the benchmark. */
#include "bench.h"

#include <string.h>

#include "crestacoll.h"

/* No MPI has them. */
#define MPI_Neighbor_reduce CRESTA_Neighbor_reduce
#define MPI_Neighbor_alltoall_reduce CRESTA_Neighbor_alltoall_reduce

const struct bench_calls bench_plain = {
#define BENCH_COLLECTIVE(name, Name, ...) .name = MPI_##Name,
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE
};

const struct bench_calls bench_cresta = {
#define BENCH_COLLECTIVE(name, Name, ...) .name = CRESTA_##Name,
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE
};

/* A function of each collective's name: makes its call for a problem.  The block from i to j of an
 * alltoallv is as long as block (i + j) mod p of the uneven list, so both ends know it: see
 * problem.c. */
#define BENCH_COLLECTIVE(name, Name, send, recv, where, rooted, reduces, parameters, given, ...)   \
    static int name(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm comm,     \
                    int root, int slot)                                                            \
    {                                                                                              \
        (void)q, (void)root, (void)slot;                                                           \
        return f->name given;                                                                      \
    }
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE

static const struct bench_coll colls[] = {
#define BENCH_COLLECTIVE(name, Name, send, recv, where, rooted, reduces, ...)                      \
    {#name, send, recv, where, rooted, reduces, name},
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE
};

const struct bench_coll *bench_coll_named(const char *name)
{
    for (size_t i = 0; i < sizeof colls / sizeof *colls; i++)
        if (strcmp(colls[i].name, name) == 0)
            return &colls[i];
    return NULL;
}

int bench_is_near(const struct bench_coll *coll)
{
    return strncmp(coll->name, "neighbor_", strlen("neighbor_")) == 0;
}

int bench_call(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm comm, int root,
               int slot)
{
    return q->coll->call(f, q, comm, root, slot);
}
