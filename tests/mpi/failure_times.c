/* SPDX-License-Identifier: BSD-3-Clause */
/* failure_times.c - how long it takes until a collective returns after a process has failed, and
 * until there is a communicator without it: for tools/failure_trials.py, under
 * `mpirun --with-ft ulfm` of Open MPI 5.
 *
 *     failure_times [plain]     the library's MPI_Allreduce, or the MPI's own
 *
 * Rank 1 ends itself at a time on which all have agreed, when the others wait for it. */
#include <crestacoll.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOMENT_NS = 200 * 1000 * 1000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int add(MPI_Comm comm, int plain)
{
    const int one = 1;
    int all;
    return plain ? MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm)
                 : CRESTA_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
}

static void wait_until(double when)
{
    while (now() < when)
        usleep(50);
}

int main(int argc, char **argv)
{
    const int plain = argc > 1 && strcmp(argv[1], "plain") == 0;
    int rank, class = MPI_SUCCESS;
    double when;
    MPI_Comm first, second, shrunk, repaired;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    for (int i = 0; i < 100; i++)
        add(first, plain);
    when = now() + 1e-9 * MOMENT_NS;
    MPI_Bcast(&when, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* one clock: all are on one host */
    if (rank == 1) {
        wait_until(when);
        kill(getpid(), SIGKILL);
    }
    const int rc = add(first, plain);
    const double error = now() - when;
    MPI_Error_class(rc, &class);
    double start = now();
    MPIX_Comm_revoke(first);
    MPIX_Comm_shrink(first, &shrunk);
    const double shrink = now() - start;
    start = now();
    const int repaired_rc = CRESTA_Comm_repair(second, &repaired);
    const double repair = now() - start;
    const int after = repaired_rc == MPI_SUCCESS ? add(repaired, plain) : repaired_rc;
    if (rank == 0)
        printf("{\"class\": \"%s\", \"error_ms\": %.3f, \"shrink_ms\": %.3f, \"repair_ms\": %.3f, "
               "\"goes_on\": %s}\n",
               class == MPIX_ERR_PROC_FAILED ? "PROC_FAILED"
               : class == MPIX_ERR_REVOKED   ? "REVOKED"
                                             : "other",
               1e3 * error, 1e3 * shrink, 1e3 * repair, after == MPI_SUCCESS ? "true" : "false");
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
