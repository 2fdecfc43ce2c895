/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c - no rank leaves a barrier before the last has entered it. */
#include "report.h"
#include "trial.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LATE_US = 1000 }; /* a rank that does not wait is out in a few */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); /* one clock for all ranks: they are on one host */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* When this rank entered and left, `late` being late. */
static int enter_and_leave(const struct call *call, enum mode mode, bool late, double times[2])
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = MPI_SUCCESS;
    if (mode_persistent(mode))
        rc = call_make(mode, call, &request);
    if (late)
        usleep(LATE_US);
    times[0] = now();
    if (rc == MPI_SUCCESS)
        rc = mode_persistent(mode) ? MPI_Start(&request) : call_make(mode, call, &request);
    if (request != MPI_REQUEST_NULL && rc == MPI_SUCCESS)
        rc = wait_politely(&request);
    times[1] = now();
    if (mode_persistent(mode) && rc == MPI_SUCCESS)
        rc = MPI_Request_free(&request);
    return rc;
}

static void compare(const struct group *group, const char *mode, const double *mine,
                    const double *times)
{
    struct wrong wrong = {COLL_Barrier, mode, "time", NOWHERE, "", ""};
    for (int i = 0; i < group->size; i++) {
        if (times[2 * i] <= mine[1]) {
            report_good();
            continue;
        }
        snprintf(wrong.expected, sizeof wrong.expected, "no return before rank %d has entered", i);
        snprintf(wrong.found, sizeof wrong.found, "it returned %g s before",
                 times[2 * i] - mine[1]);
        report_wrong(&wrong);
    }
}

static void run_once(const struct group *group, const struct plan *plan, enum mode mode, int late)
{
    const struct call call = {.coll = COLL_Barrier,
                              .sendtype = MPI_DATATYPE_NULL,
                              .recvtype = MPI_DATATYPE_NULL,
                              .comm = group->comm};
    double mine[2], times[2 * MAX_RANKS];
    report_problem("barrier on %s of %d, rank %d late", group->name, group->size, late);
    const int first = call_make(BLOCKING, &call, &(MPI_Request){MPI_REQUEST_NULL});
    if (trial_refused(first, plan))
        return;
    report_code(COLL_Barrier, mode_names[BLOCKING], first);
    report_code(COLL_Barrier, mode_names[mode],
                enter_and_leave(&call, mode, group->rank == late, mine));
    const struct call gather = {.coll = COLL_Allgather,
                                .sendbuf = mine,
                                .sendcount = 2,
                                .sendtype = MPI_DOUBLE,
                                .recvbuf = times,
                                .recvcount = 2,
                                .recvtype = MPI_DOUBLE,
                                .comm = group->comm};
    call_reference(&gather);
    compare(group, mode_names[mode], mine, times);
}

void barrier_run(const struct group *group, const struct plan *plan)
{
    for (enum mode mode = 0; mode < MODES; mode++)
        if (mode_exists(mode) && (plan->modes & 1U << mode))
            for (int late = 0; late < group->size; late++)
                run_once(group, plan, mode, late);
}
