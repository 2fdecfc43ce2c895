/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_memory.c - a communicator that has made one small call takes at most 24 KiB more than one
 * that has made it in the MPI.
 *
 *     comm_memory IMPL,... */
#include "crestacoll.h"

#include "testing/testing.h"

enum { COUNT = 200, MOST_KIB = 24 };

static long resident_kib(void)
{
    long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* KiB that they take; the first ones also make what all share. */
static long grown(const char *rules)
{
    static MPI_Comm comms[2 * COUNT];
    long before = 0;
    for (int i = 0; i < 2 * COUNT; i++) {
        int one = 1, sum = 0;
        if (i == COUNT)
            before = resident_kib();
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        if (rules != NULL)
            CRESTA_Set_impl(comms[i], rules);
        if (rules != NULL)
            CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        else
            PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
        CHECK(sum > 0, "the sum is %d", sum);
    }
    return resident_kib() - before; /* all stay: what was freed would be used again */
}

static long plain;

static void run(const char *impl)
{
    char rules[64];
    snprintf(rules, sizeof rules, "*=%s", impl);
    const long ours = grown(rules);
    CHECK(ours - plain <= MOST_KIB * COUNT, "%ld KiB more for each communicator",
          (ours - plain) / COUNT);
}

int main(int argc, char **argv)
{
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    plain = grown(NULL);
    testing_each(argc > 1 ? argv[1] : "shm", run);
    const int failed = testing_end("comm_memory");
    MPI_Finalize();
    return failed;
}
