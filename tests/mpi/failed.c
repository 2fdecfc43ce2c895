/* SPDX-License-Identifier: BSD-3-Clause */
/* failed.c - a process fails, and the launcher lets the job live: for
 * tests/python/test_library_failures.py, which reads what each rank prints.
 *
 *     failed call        the others wait in a collective, which must return an error; again at once
 *     failed handler     the same with the default error handler: one message
 *     failed several N   ranks N and above fail together, and the others come when they have ended
 *     failed late        rank 0 learns of the failure and ends; rank 2 comes later, with the
 *                        default error handler: one message
 *     failed indirect    rank 0 waits for rank 2, which waits for rank 1, which fails
 *     failed begun       the others wait in the end of a begun collective
 *     failed exchange    the others wait in an exchange, which must return an error; again at once
 *     failed exchanging  in the end of one that was begun
 *     failed gave        rank 1 ends after it gave its data, which others take later
 *     failed replay      the others wait in the end of a replay
 *     failed record      the others wait in CRESTA_Record_end
 *     failed race        the others wait where a race compares
 *     failed repair      nobody fails, and the MPI cannot repair anything
 *
 * Programs end by _exit: MPI_Finalize would wait for rank 1. */
#include <cresta_multisend.h>
#include <cresta_sp_coll.h>

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proc_failed.h"

enum { VICTIM = 1, LARGE = 300000 };

static MPI_Comm comm;
static int rank, size, argument = 1;
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

/* Its other threads may run when /proc has it as a zombie already: it has not ended then. */
static bool runs(int process)
{
    const int file = (int)syscall(SYS_pidfd_open, process, 0);
    if (file < 0)
        return kill(process, 0) == 0;
    const bool ended = poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, 0) > 0;
    close(file);
    return !ended;
}

static void several(void)
{
    int *processes = malloc((size_t)size * sizeof *processes), mine = getpid();
    if (processes == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Allgather(&mine, 1, MPI_INT, processes, 1, MPI_INT, comm);
    if (rank >= argument) {
        sleep_ms(50); /* whoever is still in the allgather gets what this rank gave */
        kill(getpid(), SIGKILL);
    }
    for (int i = argument; i < size; i++)
        while (runs(processes[i]))
            sleep_ms(1);
    free(processes);
    tell("returns", is_expected(add(1)));
    tell("again", is_expected(add(1)));
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
static void exchange_by(bool begins)
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

static void late(void)
{
    if (rank == 2) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
        sleep_ms(500);
    }
    fail();
    add(1);
    _exit(1); /* to Hydra it is not there (HIDDEN) */
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

static void exchange(void)
{
    exchange_by(false);
}

static void exchanging(void)
{
    exchange_by(true);
}

static int record(CRESTA_Recording *recording)
{
    int rc = CRESTA_Record_begin(comm);
    if (rc == MPI_SUCCESS)
        rc = add(1);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Bcast(values, 1000, MPI_DOUBLE, 0, comm);
    if (rank == VICTIM && recording == NULL)
        kill(getpid(), SIGKILL);
    CRESTA_Recording mine = CRESTA_RECORDING_NULL;
    return rc == MPI_SUCCESS ? CRESTA_Record_end(recording != NULL ? recording : &mine) : rc;
}

static int replay(CRESTA_Recording recording)
{
    const int rc = CRESTA_Replay_start(recording);
    return rc == MPI_SUCCESS ? CRESTA_Replay_end(recording) : rc;
}

static void replays(void)
{
    CRESTA_Recording recording;
    if (record(&recording) != MPI_SUCCESS || replay(recording) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    fail();
    tell("returns", is_expected(replay(recording)));
    tell("again", is_expected(replay(recording)));
    tell("call", is_expected(add(1)));
    tell("freed", CRESTA_Recording_free(&recording) == MPI_SUCCESS);
}

static void records(void)
{
    tell("returns", is_expected(record(NULL)));
    tell("again", is_expected(CRESTA_Record_begin(comm)));
}

/* Calls that repeat, so that a race begins. */
static void race(void)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; rc == MPI_SUCCESS; i++) {
        if (rank == VICTIM && i == argument)
            kill(getpid(), SIGKILL);
        rc = add(1);
    }
    tell("returns", is_expected(rc));
}

static void repair(void)
{
    MPI_Comm left = comm;
    int class = MPI_SUCCESS;
    MPI_Error_class(CRESTA_Comm_repair(comm, &left), &class);
    tell("refused", class == MPI_ERR_UNSUPPORTED_OPERATION && left == MPI_COMM_NULL);
}

static const struct mode {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"several", several}, {"indirect", indirect}, {"begun", begun},           {"gave", gave},
    {"late", late},       {"exchange", exchange}, {"exchanging", exchanging}, {"replay", replays},
    {"record", records},  {"race", race},         {"repair", repair}};

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "call";
    const int known = (int)(sizeof modes / sizeof modes[0]);
    int i = 0;
    if (argc > 2)
        argument = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "grid");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (strcmp(mode, "handler") != 0)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CRESTA_Comm_prepare(comm);
    settle();
    while (i < known && strcmp(modes[i].name, mode) != 0)
        i++;
    if (i < known)
        modes[i].run();
    else
        call(argument);
    sleep_ms(500); /* those that are left do not become failures while others look */
    _exit(0);
}
