/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - what a program has under way in the MPI moves on while crestacoll waits, and what it
 * has under way in crestacoll moves on while the MPI waits (MPI 4.0, section 6.12, "Progress").
 *
 *     progress IMPL,...
 */
#include <sched.h>

#include "begun.h"
#include "testing/testing.h"

enum { LARGE_BYTES = 8 << 20, INTS = 100000 };

static int rank, size;
static char *bytes;
static MPI_Comm world;

/* `first` sends so much that the receiver must answer before it goes, then waits in a collective,
 * which the receiver enters when it has got all. */
static void message_and_collective(int first, enum coll coll)
{
    const int second = size - 1 - first;
    MPI_Request request = MPI_REQUEST_NULL;
    snprintf(testing_label, sizeof testing_label, "message of rank %d, then blocking %s", first,
             coll_names[coll]);
    if (rank == first)
        MPI_Isend(bytes, LARGE_BYTES, MPI_BYTE, second, 1, MPI_COMM_WORLD, &request);
    if (rank == second)
        MPI_Recv(bytes, LARGE_BYTES, MPI_BYTE, first, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int one = 1, sum = 0;
    if (coll == COLL_Barrier)
        CRESTA_Barrier(world);
    else
        CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world);
    CHECK(coll == COLL_Barrier || sum == size, "sum %d", sum);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A collective begins; `first` then waits for a message of the other, who sends it when the
 * collective has ended there. */
static void split_and_message(int first, enum coll coll, int n)
{
    const int second = size - 1 - first;
    struct begun f;
    int word = rank;
    snprintf(testing_label, sizeof testing_label, "%s begins, rank %d waits for a message",
             coll_names[coll], first);
    begun_start(&f, coll, world, n, first, 3, false);
    if (rank == first)
        MPI_Recv(&word, 1, MPI_INT, second, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CRESTA_Coll_end(1, &f.request);
    if (rank == second)
        MPI_Send(&word, 1, MPI_INT, first, 2, MPI_COMM_WORLD);
    begun_check(&f);
    CHECK(rank != first || word == second, "message from %d", word);
}

/* A collective begins; a blocking one on another communicator comes before its end on one rank,
 * after it on the others. */
static void split_and_blocking(int first, MPI_Comm other)
{
    struct begun f;
    snprintf(testing_label, sizeof testing_label, "alltoall begins, rank %d blocks before its end",
             first);
    begun_start(&f, COLL_Alltoall, world, INTS, 0, 4, false);
    if (rank == first)
        CRESTA_Barrier(other);
    CRESTA_Coll_end(1, &f.request);
    if (rank != first)
        CRESTA_Barrier(other);
    begun_check(&f);
}

/* CRESTA_Progress alone brings a collective to its end: a single test, at last, finds it. */
static void by_progress_alone(void)
{
    struct begun f;
    int done = 0;
    snprintf(testing_label, sizeof testing_label, "CRESTA_Progress");
    for (double seconds = 0.005; !done; seconds *= 2) { /* or the watchdog ends it */
        begun_start(&f, COLL_Allreduce, world, INTS, 0, 5, false);
        for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
            CRESTA_Progress();
            sched_yield();
        }
        CRESTA_Coll_test(1, &f.request, &done);
        CRESTA_Coll_end(1, &f.request);
        begun_check(&f);
        MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

static void run(const char *impl)
{
    char spec[64];
    MPI_Comm other;
    snprintf(spec, sizeof spec, "*=%s", impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &world); /* ends in MPI_Finalize */
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    CRESTA_Set_impl(world, spec);
    CRESTA_Set_impl(other, spec);
    CRESTA_Barrier(world);
    CRESTA_Barrier(other);
    for (int i = 0; i < 20; i++) {
        const int first = i % 2 ? size - 1 : 0;
        message_and_collective(first, i % 4 < 2 ? COLL_Barrier : COLL_Allreduce);
        split_and_message(first, (enum coll)(i % WHOLE_COLLS), 10);
        split_and_message(first, (enum coll)(i % WHOLE_COLLS), INTS);
        split_and_blocking(first, other);
    }
    by_progress_alone();
    MPI_Comm_free(&other);
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    bytes = calloc(1, LARGE_BYTES);
    testing_each(argc > 1 ? argv[1] : "mpi", run);
    free(bytes);
    MPI_Finalize();
    return testing_end("progress");
}
