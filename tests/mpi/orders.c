/* SPDX-License-Identifier: BSD-3-Clause */
/* orders.c - communicators that ranks make and free as every MPI lets them: in unlike orders, more
 * than a thousand at once, on two threads whose orders need not agree, and nothing that crestacoll
 * does on the way reaches an error handler of the program.
 *
 *     orders IMPL,... free | many | threads | pieces
 */
#include <crestacoll.h>
#include <pthread.h>
#include <stdbool.h>

#include "testing/testing.h"

enum { MANY = 1100, FEW = 8, TURNS = 40 };

static int rank, size;
static const char *spec, *what;
static MPI_Comm world;
static int handled; /* calls of the program's error handler */

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    handled++;
}

/* A duplicate that runs its collectives by the rule. */
static MPI_Comm duplicate(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "%s", spec);
    return comm;
}

static void exercise(MPI_Comm comm, int n)
{
    int in[300] = {0}, out[300], wrong = 0;
    for (int i = 0; i < n; i++)
        in[i] = rank + i;
    const int rc = CRESTA_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong += out[i] != size * i + size * (size - 1) / 2;
    CHECK(rc == MPI_SUCCESS && wrong == 0, "code %d, %d of %d are wrong", rc, wrong, n);
}

/* Each rank begins with another, some of them in the middle of calls on the others. */
static void free_in_unlike_orders(void)
{
    MPI_Comm comms[FEW];
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < FEW; i++)
            comms[i] = duplicate();
        for (int i = 0; i < FEW; i++)
            exercise(comms[i], i % 2 ? 1 : 300);
        for (int i = 0; i < FEW / 2; i++) /* a rank is late with some: others go on without them */
            MPI_Comm_free(&comms[(rank + i * 5) % FEW]);
        exercise(world, 2);
        for (int i = 0; i < FEW; i++)
            if (comms[rank % 2 ? i : FEW - 1 - i] != MPI_COMM_NULL)
                MPI_Comm_free(&comms[rank % 2 ? i : FEW - 1 - i]);
        snprintf(testing_label, sizeof testing_label, "turn %d", turn);
    }
}

/* MPICH has room for 2048, with what it needs itself. */
static void many_at_once(void)
{
    static MPI_Comm comms[MANY];
    for (int i = 0; i < MANY; i++) {
        comms[i] = duplicate();
        exercise(comms[i], 1);
    }
    exercise(comms[0], 2);
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comms[i]);
}

static void *work(void *data)
{
    MPI_Comm *comm = data;
    for (int i = 0; i < TURNS; i++)
        exercise(*comm, 1 + i % 7 * 40);
    return NULL;
}

/* The first calls on two duplicates meet in no order that ranks agree on. */
static void on_two_threads(void)
{
    for (int turn = 0; turn < 5; turn++) {
        MPI_Comm comms[2] = {duplicate(), duplicate()};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) {
            const int which = (i + rank) % 2;
            pthread_create(&threads[which], NULL, work, &comms[which]);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
            MPI_Comm_free(&comms[(i + rank) % 2]);
    }
}

/* Some ranks see that they outnumber their cores, and others do not. */
static void in_pieces(void)
{
    enum { BYTES = 400000 };
    static unsigned char bytes[BYTES];
    MPI_Comm comm = duplicate();
    for (int root = 0; root < size; root++) {
        int wrong = 0;
        for (int i = 0; i < BYTES; i++)
            bytes[i] = (unsigned char)(rank == root ? 7 * i + i / 1000 + root : 0);
        CRESTA_Bcast(bytes, BYTES, MPI_BYTE, root, comm);
        for (int i = 0; i < BYTES; i++)
            wrong += bytes[i] != (unsigned char)(7 * i + i / 1000 + root);
        CHECK(wrong == 0, "%d bytes of a bcast from rank %d are wrong", wrong, root);
    }
    MPI_Comm_free(&comm);
}

static void run(const char *impl)
{
    char text[64];
    snprintf(text, sizeof text, "*=%s", impl);
    spec = text;
    world = duplicate(); /* ends in MPI_Finalize */
    exercise(world, 1);
    if (strcmp(what, "threads") == 0)
        on_two_threads();
    else if (strcmp(what, "many") == 0)
        many_at_once();
    else if (strcmp(what, "pieces") == 0)
        in_pieces();
    else
        free_in_unlike_orders();
    exercise(world, 3);
    CHECK(handled == 0, "the program's error handler was called %d times", handled);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Errhandler counts;
    what = argc > 2 ? argv[2] : "";
    testing_watchdog(170);
    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_create_errhandler(handler, &counts);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts); /* duplicates inherit it */
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Errhandler_free(&counts);
    MPI_Finalize();
    return testing_end("orders");
}
