/* SPDX-License-Identifier: BSD-3-Clause */
/* unused.c - communicators take no memory for begins before the program begins a call: then those
 * on which it has blocking calls afterwards do.  With a rule of the environment: CRESTA_IMPL=*=shm.
 */
#include <cresta_sp_coll.h>

#include "testing/testing.h"

enum { COMMS = 20, BEGINS = 512 << 10 /* bytes of a rank that a communicator takes for begins */ };

/* Bytes of shared memory that this process has mapped. */
static unsigned long mapped(void)
{
    char line[512];
    unsigned long from, to, sum = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:crestacoll") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
            sum += to - from;
    if (maps != NULL)
        fclose(maps);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    MPI_Request request;
    int rank, size, one = 1, sum = 0;
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    const unsigned long all = (unsigned long)BEGINS * (unsigned)size;
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        CRESTA_Barrier(comms[i]);
    }
    CHECK(mapped() > 0 && mapped() < all, "%d communicators map %lu bytes", COMMS, mapped());
    for (int i = 0; i < 3; i++) { /* the first begin finds nothing ready, the third all */
        CRESTA_Allreduce_begin(&one, &sum, 1, MPI_INT, MPI_SUM, comms[0], &request);
        CRESTA_Coll_end(1, &request);
        CHECK(sum == size, "sum %d", sum);
        CRESTA_Barrier(comms[0]);
    }
    CHECK(mapped() >= all && mapped() < 2 * all, "one of them begins: %lu bytes", mapped());
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return testing_end("unused");
}
