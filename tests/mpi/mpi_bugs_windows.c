/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_windows.c - see mpi_bugs_windows.h; mpi_bugs.c is the program. */
#include "mpi_bugs_windows.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

enum { WINDOWS = 16, ROUNDS = 5 };

/* Each rank puts a number into the window of the next and looks at its own. */
static int put_and_look(MPI_Win win, const volatile int *mine)
{
    int rank, size, bad = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 1; round <= ROUNDS; round++) {
        MPI_Put(&round, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
        MPI_Win_flush((rank + 1) % size, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(win);
        bad += *mine != round;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return bad;
}

/* A window stays valid when its communicator is freed, but a flush does not return after some. */
int win_freed_comm(void)
{
    int bad = 0, *mine[WINDOWS];
    MPI_Win wins[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &mine[i], &wins[i]);
        MPI_Comm_free(&comm);
        MPI_Win_lock_all(0, wins[i]);
        *mine[i] = 0;
        MPI_Win_sync(wins[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        bad += put_and_look(wins[i], mine[i]);
    }
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_unlock_all(wins[i]);
        MPI_Win_free(&wins[i]);
    }
    return bad;
}

static void *make_and_free(void *comm)
{
    for (int i = 0; i < WINDOWS; i++) {
        char *mine;
        MPI_Win win;
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, *(MPI_Comm *)comm, &mine, &win);
        MPI_Win_free(&win);
    }
    return NULL;
}

/* Two threads make windows, each on a communicator of its own: memory is overwritten, and the end
 * is a crash.  MPI_Win_create, _create_dynamic and _allocate_shared are no better. */
int win_threads(void)
{
    MPI_Comm comms[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, make_and_free, &comms[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
    return 0;
}

/* Two pairs with a gap between short and int, given by a derived type: the gap gets lost. */
int accumulate_pairs(void)
{
    struct pair {
        short value;
        int at;
    } *mine, in[2] = {{.value = 100, .at = 7}, {.value = 101, .at = 8}};
    int rank, bad = 0;
    MPI_Win win;
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_SHORT_INT, &two);
    MPI_Type_commit(&two);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(in, 1, two, rank, 0, 1, two, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 2; i++)
        bad += mine[i].value != in[i].value || mine[i].at != in[i].at;
    MPI_Type_free(&two);
    MPI_Win_free(&win);
    return bad;
}
