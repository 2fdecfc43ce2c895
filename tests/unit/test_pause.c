/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pause.c - how often a wait yields the core where ranks outnumber cores: once for each look,
 * and not at all after a test in which the MPI has done it. */
#include <sched.h>

#include "core/pause.h"
#include "testing/testing.h"

enum { LOOKS = 100 };

static int yields;

int __wrap_sched_yield(void);

int __wrap_sched_yield(void)
{
    yields++;
    return 0;
}

static int yields_of(void (*pause)(int *tries), int start)
{
    int tries = start;
    yields = 0;
    for (int i = 0; i < LOOKS; i++)
        pause(&tries);
    return yields;
}

int main(void)
{
    cco_pause_crowded(true);
    CHECK(yields_of(cco_pause, CCO_PAUSE_MEMORY) == LOOKS, "memory: %d", yields);
    CHECK(yields_of(cco_pause, 0) == LOOKS, "any: %d", yields);
    CHECK(yields_of(cco_pause_after_mpi, 0) == LOOKS, "an MPI that does not: %d", yields);
    cco_pause_mpi_yields(true);
    CHECK(yields_of(cco_pause_after_mpi, 0) == 0, "an MPI that does: %d", yields);
    CHECK(yields_of(cco_pause, CCO_PAUSE_MEMORY) == LOOKS, "memory beside it: %d", yields);
    cco_pause_crowded(false);
    CHECK(yields_of(cco_pause_after_mpi, 0) == 0, "with a core for each rank: %d", yields);
    return testing_end("test_pause");
}
