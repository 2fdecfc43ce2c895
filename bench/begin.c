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

#define BENCH_COLLECTIVE(name, Name, send, recv, where, rooted, reduces, parameters, given, ...)   \
    static int name parameters                                                                     \
    {                                                                                              \
        return after(CRESTA_##Name##_begin(__VA_ARGS__, &begun));                                  \
    }
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE

const struct bench_calls bench_begins = {
#define BENCH_COLLECTIVE(name, ...) .name = name,
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE
};
