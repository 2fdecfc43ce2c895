/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pause.c - how often a wait yields the core where ranks outnumber cores: once for each look,
 * and not at all after a test in which the MPI has done it.  Where threads outnumber their cores,
 * soon; each counts from its first wait to its end. */
#include <pthread.h>
#include <sched.h>

#include "base/pause.h"
#include "base/thread_count.h"
#include "testing/testing.h"

enum { LOOKS = 600 };

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

static void *wait_once(void *argument)
{
    int tries = 0;
    cco_pause(&tries);
    *(int *)argument = cco_threads_crowd();
    return NULL;
}

/* This thread has waited before. */
static void outnumber_cores(void)
{
    pthread_t thread;
    int crowd = 0;
    CHECK(!cco_threads_crowd(), "nobody has said how many cores there are");
    cco_threads_cores(1);
    CHECK(!cco_threads_crowd(), "one thread, one core");
    pthread_create(&thread, NULL, wait_once, &crowd);
    pthread_join(thread, NULL);
    CHECK(crowd, "two threads on one core");
    CHECK(!cco_threads_crowd(), "one of them has ended");
    CHECK(yields_of(cco_pause, 0) == 0, "one thread: %d", yields);
    cco_threads_cores(0); /* as if there were one more */
    const int memory = yields_of(cco_pause, CCO_PAUSE_MEMORY), tests = yields_of(cco_pause, 0);
    CHECK(memory > 0 && memory < LOOKS, "looks at memory: %d of %d", memory, LOOKS);
    CHECK(tests > 0 && tests < LOOKS, "tests of the MPI: %d of %d", tests, LOOKS);
    cco_threads_cores(2);
    CHECK(yields_of(cco_pause, 0) == 0, "two cores: %d", yields);
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
    outnumber_cores();
    return testing_end("test_pause");
}
