/* SPDX-License-Identifier: BSD-3-Clause */
/* small.c - small broadcasts that ranks pass on to others, over trees of every radix; ranks that
 * come late by more calls than there are slots.
 *
 *     shmem_small */
#include <time.h>

#include "shmem/small.h"
#include "testing/testing.h"

enum { TURNS = 400 };

static void run(MPI_Comm comm, int radix)
{
    unsigned char source[CCO_SMALL_BYTES], dest[CCO_SMALL_BYTES + 1];
    cco_small small;
    CHECK(cco_small_open(&small, comm), "no slots");
    small.radix = radix;
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t n = (size_t)(turn * 397 % (turn % 5 == 0 ? CCO_SMALL_BYTES + 1 : 70));
        const int root = turn / 25 % small.size;
        snprintf(testing_label, sizeof testing_label, "radix %d, turn %d", radix, turn);
        memset(source, turn + (small.rank != root), sizeof source);
        memset(dest, 0xee, sizeof dest);
        if (turn % 97 == 3 * small.rank)
            nanosleep(&(struct timespec){.tv_nsec = 2000 * 1000}, NULL);
        cco_small_broadcast(&small, dest, source, n, root);
        for (size_t i = 0; i <= n; i++)
            if (dest[i] != (i < n && small.rank != root ? (unsigned char)turn : 0xee)) {
                CHECK(0, "byte %zu of %zu: %d", i, n, dest[i]);
                break;
            }
    }
    MPI_Barrier(comm);
    cco_small_close(&small);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    testing_watchdog(30);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int radix = 1; radix <= size; radix++)
        run(MPI_COMM_WORLD, radix);
    MPI_Finalize();
    return testing_end("shmem_small");
}
