/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_made.c - calls of the MPI of many kinds, each function at one place: for
 * tests of what a profile says of them.  `calls_made FILE` on two ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#endif

enum { TIMES = 200, MANY = 1000 };

static int rank;
static double data[MANY], others[MANY];

static void made_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
}

static void made_messages(int other)
{
    for (int i = 0; i < TIMES; i++) {
        if (rank == 0) {
            made_pause();
            MPI_Send(data, MANY, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
            MPI_Ssend(data, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
        } else {
            MPI_Probe(other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int tag = 0; tag < 2; tag++)
                MPI_Recv(others, MANY, MPI_DOUBLE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        }
        MPI_Sendrecv(data, 1, MPI_INT, other, 2, others, 1, MPI_INT, other, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void made_requests(int other)
{
    MPI_Request q[2];
    int there = 0;
    for (int i = 0; i < TIMES; i++) {
        MPI_Irecv(others, MANY, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(data, MANY, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        MPI_Iallreduce(data, others, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    MPI_Send_init(data, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &q[0]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Start(&q[0]);
        for (int done = 0; !done;)
            MPI_Test(&q[0], &done, MPI_STATUS_IGNORE);
        MPI_Iprobe(other, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q[0]);
}

static void made_collectives(void)
{
    for (int i = 0; i < TIMES; i++) {
        if (rank == i % 2)
            made_pause();
        MPI_Allreduce(data, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(data, MANY, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void made_objects(int other, const char *name)
{
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_create(others, sizeof others, sizeof others[0], MPI_INFO_NULL, comm, &win);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_fence(0, win);
        MPI_Put(data, 8, MPI_DOUBLE, other, 0, 8, MPI_DOUBLE, win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < TIMES; i++)
        MPI_File_write_at(file, 8000 * (MPI_Offset)(2 * i + rank), data, MANY, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    made_messages(1 - rank);
    made_requests(1 - rank);
    made_collectives();
    made_objects(1 - rank, argv[1]);
    MPI_Finalize();
    return 0;
}
