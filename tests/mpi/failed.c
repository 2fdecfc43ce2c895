/* SPDX-License-Identifier: BSD-3-Clause */
/* failed.c - a process fails, and the launcher lets the job live: for
 * tests/python/test_library_failures.py, which reads what each rank prints.
 *
 *     failed call        the others wait in a collective, which must return an error; again at once
 *     failed handler     the same with the default error handler: one message
 *     failed indirect    rank 0 waits for rank 2, which waits for rank 1, which fails
 *     failed begun       the others wait in the end of a begun collective
 *     failed exchange    the others wait in an exchange, which must return an error; again at once
 *     failed exchanging  in the end of one that was begun
 *     failed gave        rank 1 ends after it gave its data, which others take later
 *     failed repair      nobody fails, and the MPI cannot repair anything
 *
 * Programs end by _exit: MPI_Finalize would wait for rank 1. */
#include <cresta_multisend.h>
#include <cresta_sp_coll.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(MPIX_ERR_PROC_FAILED)
static const int expected = MPIX_ERR_PROC_FAILED;
#else
static const int expected = MPI_ERR_OTHER;
#endif

enum { VICTIM = 1, LARGE = 300000 };

static MPI_Comm comm;
static int rank, size;
static double values[LARGE], sums[LARGE];

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static int add(int count)
{
    return CRESTA_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
}

static void settle(void)
{
    for (int i = 0; i < 20; i++)
        if (add(1 + (i % 2) * (LARGE - 1)) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
}

static void fail(void)
{
    if (rank != VICTIM)
        return;
    sleep_ms(50); /* the others wait */
    kill(getpid(), SIGKILL);
}

static void tell(const char *what, bool right)
{
    printf("rank %d %s: %s\n", rank, what, right ? "right" : "WRONG");
    fflush(stdout);
}

static bool is_expected(int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    if (class != expected)
        fprintf(stderr, "rank %d: class %d instead of %d\n", rank, class, expected);
    return class == expected;
}

static void call(int count)
{
    fail();
    tell("returns", is_expected(add(count)));
    tell("again", is_expected(add(count)));
    tell("barrier", is_expected(CRESTA_Barrier(comm)));
}

/* Only rank 2 gets something from rank 1, and gives to all. */
static void indirect(void)
{
    int rc = MPI_SUCCESS;
    fail();
    if (rank == 2) {
        rc = CRESTA_Reduce(values, sums, 1, MPI_DOUBLE, MPI_SUM, 2, comm);
        tell("returns", is_expected(rc));
        sleep_ms(300);
    } else {
        CRESTA_Reduce(values, sums, 1, MPI_DOUBLE, MPI_SUM, 2, comm);
        rc = CRESTA_Bcast(values, 1, MPI_DOUBLE, 2, comm);
        tell("returns", is_expected(rc));
    }
}

static void begun(void)
{
    MPI_Request request;
    int rc;
    fail();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rc = CRESTA_Allreduce_begin(values, sums, LARGE, MPI_DOUBLE, MPI_SUM, comm, &request);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Coll_end(1, &request);
    tell("returns", is_expected(rc));
    rc = CRESTA_Allreduce_begin(values, sums, LARGE, MPI_DOUBLE, MPI_SUM, comm, &request);
    tell("again", rc != MPI_SUCCESS && request == MPI_REQUEST_NULL);
}

/* All send to the one that fails, and to the next. */
static void exchange(bool begins)
{
    const int counts[2] = {1, 1}, displs[2] = {0, 0}, to[2] = {VICTIM, (rank + 1) % size};
    int came, elements, rc;
    MPI_Request request = MPI_REQUEST_NULL;
    CRESTA_Exchange(&rank, counts, displs, MPI_INT, 2, to, &came, &elements, comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fail();
    if (begins) {
        rc = CRESTA_Exchange_begin(&rank, counts, displs, MPI_INT, 2, to, &came, &elements, comm,
                                   &request);
        if (rc == MPI_SUCCESS)
            rc = CRESTA_Coll_end(1, &request);
    } else {
        rc = CRESTA_Exchange(&rank, counts, displs, MPI_INT, 2, to, &came, &elements, comm);
    }
    tell("returns", is_expected(rc));
    rc = CRESTA_Exchange_begin(&rank, counts, displs, MPI_INT, 2, to, &came, &elements, comm,
                               &request);
    tell("again", is_expected(rc) && request == MPI_REQUEST_NULL);
    tell("barrier", is_expected(CRESTA_Barrier(comm)));
}

static void gave(void)
{
    double data = rank == VICTIM ? 42 : 0;
    if (rank != VICTIM)
        sleep_ms(100);
    const int rc = CRESTA_Bcast(&data, 1, MPI_DOUBLE, VICTIM, comm);
    if (rank == VICTIM)
        kill(getpid(), SIGKILL);
    tell("takes", rc == MPI_SUCCESS && data == 42);
}

static void repair(void)
{
    MPI_Comm left = comm;
    int class = MPI_SUCCESS;
    MPI_Error_class(CRESTA_Comm_repair(comm, &left), &class);
    tell("refused", class == MPI_ERR_UNSUPPORTED_OPERATION && left == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "call";
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "grid");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (strcmp(mode, "handler") != 0)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CRESTA_Comm_prepare(comm);
    settle();
    if (strcmp(mode, "indirect") == 0)
        indirect();
    else if (strcmp(mode, "begun") == 0)
        begun();
    else if (strncmp(mode, "exchang", 7) == 0)
        exchange(strcmp(mode, "exchanging") == 0);
    else if (strcmp(mode, "repair") == 0)
        repair();
    else if (strcmp(mode, "gave") == 0)
        gave();
    else
        call(argc > 2 ? atoi(argv[2]) : 1);
    sleep_ms(500); /* those that are left do not become failures while others look */
    _exit(0);
}
