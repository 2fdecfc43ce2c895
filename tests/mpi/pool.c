/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c - communicators that come and go use the shared memory of those before them, and get right
 * results from it: of the same ranks, of the same in another order, of some. */
#include <crestacoll.h>

#include "testing/testing.h"

enum { RANKS = 4, MOST = 30000, TURNS = 20, ONES = 8, POOLED = 8 };

static int in[RANKS * MOST], out[RANKS * MOST];

/* What two calls of `n` ints come to: one whose size all know, one whose size pairs know. */
static void exercise(MPI_Comm comm, int n, int turn)
{
    int rank, size, wrong = 0, counts[RANKS], places[RANKS];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < n * size; i++)
        in[i] = i + 1000 * rank + turn;
    CRESTA_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong += out[i] != size * (i + turn) + 1000 * size * (size - 1) / 2;
    for (int i = 0; i < size; i++)
        counts[i] = n, places[i] = n * i;
    CRESTA_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
    for (int i = 0; i < n * size; i++)
        wrong += out[i] != n * rank + i % n + 1000 * (i / n) + turn;
    CHECK(wrong == 0, "%d of %d ints are wrong on %d ranks in turn %d", wrong, n, size, turn);
}

/* The memory that this process has mapped, by its inodes: their sum, and their number in *n. */
static unsigned long mapped(int *n)
{
    char line[512];
    unsigned long inode, sum = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (*n = 0; maps != NULL && fgets(line, sizeof line, maps) != NULL;)
        if (strstr(line, "memfd:crestacoll") != NULL &&
            sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1)
            sum += inode, ++*n;
    if (maps != NULL)
        fclose(maps);
    return sum;
}

static MPI_Comm some_comm(int turn)
{
    MPI_Comm comm;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (turn % 4) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        break;
    case 1: /* the other way round */
        MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
        break;
    case 2: /* halves */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        break;
    default: /* all but one */
        MPI_Comm_split(MPI_COMM_WORLD, rank == turn % size, rank, &comm);
    }
    return comm;
}

/* One after the other of the same ranks: nothing is mapped anew. */
static void check_reuse(void)
{
    unsigned long first = 0;
    int n, before = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm comm = some_comm(0);
        exercise(comm, 1 + turn, turn);
        exercise(comm, MOST - turn, turn);
        const unsigned long now = mapped(&n);
        if (turn == 0)
            first = now, before = n;
        CHECK(now == first && n == before, "%d segments in turn %d, %d before, not the same", n,
              turn, before);
        MPI_Comm_free(&comm);
    }
    CHECK(before == 2, "%d segments of one communicator", before);
}

/* Communicators of different ranks, several alive at a time, freed from either end. */
static void check_mixture(void)
{
    MPI_Comm comms[ONES];
    int n;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < ONES; i++) {
            comms[i] = some_comm(turn + i * (turn % 3));
            exercise(comms[i], 1 + i, turn);
            exercise(comms[i], 300 * i + 1, turn);
        }
        for (int i = 0; i < ONES; i++)
            MPI_Comm_free(&comms[turn % 2 == 0 ? i : ONES - 1 - i]);
    }
    mapped(&n);
    CHECK(n <= POOLED, "%d segments are kept", n);
}

int main(int argc, char **argv)
{
    int size;
    testing_watchdog(50);
    setenv("CRESTA_IMPL", "*=shm", 1);
    setenv("CRESTA_ASYNC", "off", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (CHECK(size <= RANKS, "%d ranks, room for %d", size, RANKS)) {
        check_reuse();
        check_mixture();
    }
    MPI_Finalize();
    return testing_end("pool");
}
