/* SPDX-License-Identifier: BSD-3-Clause */
/* failed_apart.c - a process fails, and who waits for it is not who finds that out, or the wait is
 * one of a set-up; the launcher lets the job live.  For tests/python/test_failures_apart.py, which
 * reads what each rank prints.
 *
 *     failed_apart works      rank 0 fails; rank 1 has begun a replay and works until rank 2, which
 *                             waits for it in the end of the same replay, has returned
 *     failed_apart rehearsal  rank 0 fails while a recording is made: rank 1 waits for it, and rank
 *                             2 for rank 1, which lives until rank 2 has returned
 *     failed_apart first      rank 1 fails; the others wait in the first exchange
 *
 * What rank 2 waits for passes along the chain.  Programs end by _exit: MPI_Finalize would wait. */
#define _GNU_SOURCE
#include <cresta_multisend.h>
#include <cresta_sp_coll.h>
#include <crestacoll.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proc_failed.h"

enum { COUNT = 1000, LONGEST = 90 /* seconds: of what hangs nothing is to stay */ };

static MPI_Comm comm;
static int rank, size;
static bool dies; /* where this rank receives next in a rehearsal */

/* The library's calls come here. */
int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm on,
               MPI_Request *request)
{
    static int (*real)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "PMPI_Irecv");
        memcpy(&real, &found, sizeof real);
    }
    if (dies && count == 2 && type == MPI_INT64_T)
        kill(getpid(), SIGKILL);
    return real(buffer, count, type, source, tag, on, request);
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

/* Rank 2 tells rank 1 that it has returned. */
static void say_returned(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void hear_returned(bool works)
{
    int there = !works;
    while (!there) {
        CRESTA_Progress();
        MPI_Iprobe(2, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int record(CRESTA_Recording *recording)
{
    static double a[COUNT], b[COUNT];
    int rc = CRESTA_Record_begin(comm);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Bcast(a, COUNT, MPI_DOUBLE, 0, comm);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Bcast(b, COUNT, MPI_DOUBLE, 0, comm);
    return rc == MPI_SUCCESS ? CRESTA_Record_end(recording) : rc;
}

static void works(void)
{
    CRESTA_Recording recording;
    if (record(&recording) != MPI_SUCCESS || CRESTA_Replay_start(recording) != MPI_SUCCESS ||
        CRESTA_Replay_end(recording) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        kill(getpid(), SIGKILL);
    int rc = CRESTA_Replay_start(recording);
    if (rank == 1)
        hear_returned(true);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Replay_end(recording);
    tell("returns", is_expected(rc));
    if (rank == 2)
        say_returned();
    tell("again", is_expected(CRESTA_Replay_start(recording)));
}

static void rehearsal(void)
{
    CRESTA_Recording recording;
    dies = rank == 0;
    tell("returns", is_expected(record(&recording)));
    if (rank == 1)
        hear_returned(false);
    else
        say_returned();
    tell("again", is_expected(CRESTA_Record_begin(comm)));
}

static void first(void)
{
    const int counts[1] = {1}, displs[1] = {0}, to[1] = {(rank + 1) % size};
    int came, elements;
    if (rank == 1)
        kill(getpid(), SIGKILL);
    for (int i = 0; i < 2; i++)
        tell(i == 0 ? "returns" : "again",
             is_expected(
                 CRESTA_Exchange(&rank, counts, displs, MPI_INT, 1, to, &came, &elements, comm)));
}

int main(int argc, char **argv)
{
    static double data[COUNT];
    const char *mode = argc > 1 ? argv[1] : "";
    alarm(LONGEST);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "grid");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CRESTA_Comm_prepare(comm);
    if (CRESTA_Bcast(data, COUNT, MPI_DOUBLE, 0, comm) != MPI_SUCCESS ||
        CRESTA_Barrier(comm) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(mode, "works") == 0)
        works();
    else if (strcmp(mode, "rehearsal") == 0)
        rehearsal();
    else
        first();
    /* those that are left do not become failures while others look */
    nanosleep(&(struct timespec){.tv_nsec = 500 * 1000 * 1000}, NULL);
    _exit(0);
}
