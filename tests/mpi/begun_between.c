/* SPDX-License-Identifier: BSD-3-Clause */
/* begun_between.c - what the library sends where a recording ends, in a first exchange, and where a
 * model makes its memory, does not meet what the program has begun before.  As begun_first.c, with
 * functions of the linked library.  Calls that ranks begin before and after CRESTA_Set_impl meet
 * each other, too. */
#include <cresta_multisend.h>

#include "choose.h"

static int rank, size;

static void barrier(MPI_Comm comm)
{
    CHECK(CRESTA_Barrier(comm) == MPI_SUCCESS, "a barrier");
}

static void record(MPI_Comm comm)
{
    int one = 1, all = 0;
    CRESTA_Recording recording;
    CRESTA_Record_begin(comm);
    CRESTA_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    CHECK(CRESTA_Record_end(&recording) == MPI_SUCCESS && all == size, "a sum of %d", all);
    CRESTA_Recording_free(&recording);
}

static void exchange(MPI_Comm comm)
{
    const int to = (rank + 1) % size, one = 1, start = 0;
    int sources = 0, elements = 0;
    CHECK(CRESTA_Exchange(&rank, &one, &start, MPI_INT, 1, &to, &sources, &elements, comm) ==
              MPI_SUCCESS,
          "an exchange");
    CHECK(sources == 1 && elements == 1, "%d elements of %d ranks", elements, sources);
}

/* `ints`: as many as the call has that the library must not meet. */
static void meet(void (*run)(MPI_Comm comm), const char *impl, const char *name, int ints)
{
    enum { MOST = 64 };
    int in[MOST], out[MOST] = {0};
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    snprintf(testing_label, sizeof testing_label, "%s with %s", name, impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    barrier(comm);
    choose(comm, impl);
    for (int i = 0; i < ints; i++)
        in[i] = rank + i;
    if (rank == 0)
        run(comm);
    MPI_Iallreduce(in, out, ints, MPI_INT, MPI_SUM, comm, &request);
    if (rank != 0)
        run(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ints; i++)
        CHECK(out[i] == size * (size - 1) / 2 + size * i, "int %d is %d", i, out[i]);
    MPI_Comm_free(&comm);
}

/* A begin before the ranks have the rule by which it would be an operation of the library. */
static void begin(const char *impl)
{
    MPI_Comm comm;
    MPI_Request request;
    snprintf(testing_label, sizeof testing_label, "a begin with %s", impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        choose(comm, impl);
    for (int i = 0; i < 2; i++) {
        int sum = 0;
        const int mine = rank + i;
        CHECK(CRESTA_Allreduce_begin(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request) ==
                  MPI_SUCCESS,
              "begin %d", i);
        if (i == 0 && rank != 0)
            choose(comm, impl);
        CHECK(CRESTA_Coll_end(1, &request) == MPI_SUCCESS, "end %d", i);
        CHECK(sum == size * (size - 1) / 2 + size * i, "begin %d: sum %d", i, sum);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    meet(record, "p2p", "a recording", 6);
    meet(record, "shm", "a recording", 1);
    meet(exchange, "mpi", "an exchange", 8);
    meet(barrier, "os", "a barrier", 1);
    meet(barrier, "hier", "a barrier", 2);
    begin("shm");
    begin("p2p");
    MPI_Finalize();
    return testing_end("begun_between");
}
