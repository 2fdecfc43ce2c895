/* SPDX-License-Identifier: BSD-3-Clause */
/* begun_first.c - what the library sends in a first blocking call does not meet what the program
 * has begun before.
 *
 * Rank 0 makes a barrier and then begins a collective; the others begin that one first.  The
 * standard forbids this order, and the MPIs get it right: a barrier and a begun collective do not
 * match each other there.  A collective of the library's own in the barrier, begun on the same
 * communicator, would match the program's.
 *
 *     begun_first [threads]
 *
 * `threads`: with MPI_THREAD_MULTIPLE.  There is a progress thread then, so what begins after the
 * set-up may be an operation of the library, which would not meet what began before. */
#include <mpi.h>
#include <string.h>

#include "testing/testing.h"

enum { WORDS = 64 };

/* `ints`: as many as the program's call has. */
static void meet(MPI_Comm comm, const char *name, int ints)
{
    int rank, size, in[WORDS], out[WORDS + 1];
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < WORDS; i++)
        in[i] = rank + i;
    memset(out, 0, sizeof out);
    if (rank == 0)
        MPI_Barrier(comm);
    MPI_Iallreduce(in, out, ints, MPI_INT, MPI_SUM, comm, &request);
    if (rank == 1) /* a message of the program's in between */
        MPI_Send(&rank, 1, MPI_INT, 0, 7, comm);
    if (rank == 0)
        MPI_Recv(&out[WORDS], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ints; i++)
        CHECK(out[i] == size * (size - 1) / 2 + size * i, "%s: int %d is %d", name, i, out[i]);
    CHECK(out[WORDS] == (rank == 0), "%s: the message is %d", name, out[WORDS]);
}

/* Two collectives that do match where they begin on one communicator: the blocking one must not. */
static void meet_alike(MPI_Comm world)
{
    int rank, size, in[2 * WORDS], out[2 * WORDS];
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(world, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 2 * WORDS; i++)
        in[i] = rank + i;
    if (rank == 0)
        MPI_Allreduce(in, out, WORDS, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(in + WORDS, out + WORDS, WORDS, MPI_INT, MPI_SUM, comm, &request);
    if (rank != 0)
        MPI_Allreduce(in, out, WORDS, MPI_INT, MPI_SUM, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * WORDS; i++)
        CHECK(out[i] == size * (size - 1) / 2 + size * i, "alike: int %d is %d", i, out[i]);
    MPI_Comm_free(&comm);
}

/* Nothing runs on these communicators before. */
static void meet_in_parts(int rank, int size)
{
    const int dims[] = {1, size}, periods[] = {0, 1}, remain[] = {0, 1};
    int few;
    MPI_Group world, ranks;
    MPI_Comm half, halves, turned, grid, row;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size - size % 2, -rank, &half);
    MPI_Comm_size(half, &few);
    MPI_Comm_dup(half, &halves);
    if (few > 1)
        meet(halves, "a duplicate of a part", 3);
    if (few > 1)
        meet(half, "a part", 41);
    MPI_Comm_group(half, &world);
    MPI_Group_excl(world, 0, NULL, &ranks); /* the same ranks, another communicator */
    MPI_Comm_create(half, ranks, &turned);
    if (few > 1)
        meet(turned, "one made of a group", 49);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    meet(grid, "a grid", 45);
    MPI_Cart_sub(grid, remain, &row);
    meet(row, "a row", 2);
    MPI_Group_free(&world);
    MPI_Group_free(&ranks);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&turned);
    MPI_Comm_free(&halves);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm dup, again;
    int rank, size, level;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    meet(MPI_COMM_WORLD, "the world", 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_dup(dup, &again);
    meet(again, "a duplicate of a duplicate", WORDS);
    meet(dup, "a duplicate", 44);
    meet_in_parts(rank, size);
    meet_alike(MPI_COMM_WORLD);
    MPI_Comm_free(&again);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return testing_end("begun_first");
}
