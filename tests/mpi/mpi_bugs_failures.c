/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_failures.c - see mpi_bugs_failures.h.  The last rank ends itself, at another moment in
 * each run. */
#include "mpi_bugs_failures.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static int rank, size;

static void die(int number)
{
    (void)number;
    kill(getpid(), SIGKILL);
}

static void begin(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != size - 1)
        return;
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 20000 + getpid() % 100 * 1000}},
              NULL);
}

/* Communicators one after the other: each rank that is left gets an error some time. */
int dies_in_create(void)
{
    MPI_Group all;
    int rc = MPI_SUCCESS;
    begin();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    while (rc == MPI_SUCCESS) {
        MPI_Comm made = MPI_COMM_NULL;
        rc = MPI_Comm_create(MPI_COMM_WORLD, all, &made);
        if (rc == MPI_SUCCESS)
            MPI_Comm_free(&made);
    }
    return 0;
}

/* Sums: each is right, or an error. */
int dies_in_allreduce(void)
{
    begin();
    for (int i = 0;; i++) {
        const int mine = i % 1000 + rank, right = size * (i % 1000) + size * (size - 1) / 2;
        int sum = -1;
        if (MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS)
            return 0;
        if (sum != right) {
            printf("rank %d: MPI_SUCCESS, and %d instead of %d\n", rank, sum, right);
            return 1;
        }
    }
}

/* Rank 0 sends what the last one does not take, and goes on. */
int dies_in_sends(void)
{
    enum { BYTES = 60000, SENDS = 1000, SECONDS = 2 };
    static char data[BYTES];
    begin();
    while (rank == size - 1)
        pause();
    for (int i = 0; rank == 0 && i < SENDS; i++) {
        MPI_Request request;
        if (MPI_Isend(data, BYTES, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
            MPI_Request_free(&request);
    }
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < SECONDS;) {
        int there;
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    return 0;
}
