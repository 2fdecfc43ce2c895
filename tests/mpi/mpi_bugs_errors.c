/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_errors.c - see mpi_bugs_errors.h; mpi_bugs.c is the program. */
#include "mpi_bugs_errors.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPI_STATUSES_IGNORE of MPICH */
#endif

#include <mpi.h>
#include <setjmp.h>
#include <stddef.h>

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(back, 1);
}

static void ask(MPI_Comm *comm, int *code, ...)
{
    int size, sum, one = 1;
    (void)code;
    MPI_Comm_size(*comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static int with_handler(MPI_Comm_errhandler_function *handler)
{
    int word = 0, sum = 0;
    MPI_Comm comm;
    MPI_Errhandler made;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(comm, made);
    MPI_Errhandler_free(&made);
    if (setjmp(back) == 0)
        MPI_Bcast(&word, -1, MPI_INT, 0, comm);
    word = 1;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    return sum != 1;
}

/* With MPI_THREAD_MULTIPLE a lock is held while a handler runs: an assertion fails in the next call
 * after one that left, */
int handler_leaves(void)
{
    return with_handler(leave);
}

/* and in calls of the handler. */
int handler_calls(void)
{
    return with_handler(ask);
}

/* MPI_Waitall of two requests when `complete` of them are, of which the first has failed. */
static int waitall(int complete)
{
    int two[2] = {1, 2}, room[2], rank, rc;
    MPI_Request r[2], sent[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&room[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 2; i++)
        MPI_Isend(two, 2 - i, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &sent[i]);
    for (int i = 0, done = 0; i < complete; i += done != 0)
        MPI_Request_get_status(r[i], &done, MPI_STATUS_IGNORE);
    rc = MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
    }
    return rc == MPI_SUCCESS;
}

/* With MPI_THREAD_MULTIPLE, when one request has failed before and another has not: waits for
 * ever. */
int waitall_failed(void)
{
    return waitall(1);
}

/* When all are complete: MPI_SUCCESS, and nobody learns that one has failed. */
int waitall_over(void)
{
    return waitall(2);
}

/* Sends `n` numbers, and receives with room for one by a persistent request that is over then. */
static void receive_again(int n, int with_look, MPI_Request *r)
{
    static int two[2] = {1, 2}, room[2];
    int rank, done = 0;
    MPI_Request sent;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(room, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, r);
    MPI_Start(r);
    MPI_Isend(two, n, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &sent);
    while (with_look && !done)
        MPI_Request_get_status(*r, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* A persistent receive that fails: MPI_ERR_IN_STATUS, and no error in the status. */
int some_persistent(void)
{
    int done = 0, at, rc = MPI_SUCCESS;
    MPI_Request r;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    receive_again(2, 0, &r);
    while (rc == MPI_SUCCESS && done == 0)
        rc = MPI_Testsome(1, &r, &done, &at, &status);
    MPI_Request_free(&r);
    return rc == MPI_SUCCESS || status.MPI_ERROR == MPI_SUCCESS;
}

/* A look ends a persistent request: the wait has nothing to tell. */
int look_ends(void)
{
    int rank;
    MPI_Request r;
    MPI_Status status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    receive_again(1, 1, &r);
    MPI_Wait(&r, &status);
    MPI_Request_free(&r);
    return status.MPI_SOURCE != 1 - rank;
}

static int handled;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* A look at a request that has failed, and the wait for it, both call the handler. */
int look_handled(void)
{
    static int two[2] = {1, 2}, room[2];
    int rank, done = 0;
    MPI_Request r, sent;
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(count, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
    MPI_Errhandler_free(&made);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(room, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r);
    MPI_Isend(two, 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &sent);
    while (!done)
        MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return handled != 1;
}

/* A persistent receive from nobody that was never started ends a wait for any. */
int none_active(void)
{
    int room, at = -1;
    MPI_Request r;
    MPI_Recv_init(&room, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
    MPI_Waitany(1, &r, &at, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    return at != MPI_UNDEFINED;
}
