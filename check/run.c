/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - see run.h. */
#include "run.h"

#include <stdio.h>
#include <string.h>

#include "groups.h"
#include "known.h"
#include "native/models.h"
#include "report.h"
#include "tell.h"

/* Its calls are the MPI's own collectives, whose known faults are not ours. */
static bool ends_in_the_mpi(const cco_model *model)
{
    return model == &cco_model_mpi || model == &cco_model_nonblock || model == &cco_model_persist;
}

static bool choose(const struct cell *cell, MPI_Comm comm)
{
    char spec[128];
    snprintf(spec, sizeof spec, "%s=%s", cco_coll_infos[cell->which].name, cell->impl);
    int rc = CRESTA_Set_impl(comm, spec);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Comm_prepare(comm);
    report_problem("CRESTA_Set_impl(%s)", spec);
    report_code(cell->coll, "choosing", rc);
    return rc == MPI_SUCCESS;
}

static void choose_there(const void *cell, MPI_Comm comm)
{
    choose(cell, comm);
}

static void run_group(const struct group *group, const struct plan *plan)
{
    if (plan->colls & 1U << COLL_Barrier)
        barrier_run(group, plan);
    movement_run(group, plan);
    reduction_run(group, plan);
    neighbors_run(group, plan);
}

/* The most that any rank says; every rank gets it without holding its core. */
static double slowest(double mine)
{
    double all = mine;
    MPI_Request request;
    if (PMPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request) ==
        MPI_SUCCESS)
        wait_politely(&request);
    return all;
}

static void sum_up(long *numbers, int n)
{
    long sums[8];
    MPI_Request request;
    if (PMPI_Iallreduce(numbers, sums, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request) ==
            MPI_SUCCESS &&
        wait_politely(&request) == MPI_SUCCESS)
        memcpy(numbers, sums, (size_t)n * sizeof *numbers);
}

/* Tries every n-th problem on the world, n so that the whole takes about `seconds`: a first pass
 * with few of them says how long they take here.  Returns n. */
static int run_world(struct plan *plan, double seconds)
{
    static const int primes[] = {1, 2, 3, 5, 7, 11, 17, 31};
    enum { PRIMES = sizeof primes / sizeof primes[0], SPARSEST = 31 };
    int i = 0;
    plan->every = SPARSEST;
    const double start = MPI_Wtime();
    run_group(&groups[0], plan);
    const double all = SPARSEST * slowest(MPI_Wtime() - start);
    while (i < PRIMES - 1 && 2 * all > seconds * primes[i]) /* other groups take as long again */
        i++;
    plan->every = primes[i];
    if (plan->every < SPARSEST)
        run_group(&groups[0], plan);
    return plan->every;
}

static void run_groups(const struct cell *cell, struct plan *plan, double seconds)
{
    const char *instead;
    int every = 1;
    for (int i = 0; i < GROUPS; i++) {
        const struct group *group = &groups[i];
        if (group->comm == MPI_COMM_NULL || cell_refused(cell, group->size, &instead) != NULL ||
            !choose(cell, group->comm))
            continue;
        if (i == 0) {
            every = run_world(plan, seconds);
            if (plan->tally->tried == plan->tally->refused)
                return; /* not here: small groups make no difference */
            continue;
        }
        plan->every = group->comm == MPI_COMM_SELF ? every : 5 * every;
        plan->reference = false;
        run_group(group, plan);
    }
}

bool cell_run(const struct cell *cell, double seconds)
{
    const char *instead, *const why = cell_refused(cell, groups[0].size, &instead);
    struct tally tally = {0};
    struct plan plan = {.modes = 1U << BLOCKING | 1U << LARGE,
                        .colls = 1U << cell->coll,
                        .reference = cell->way.model == &cco_model_mpi,
                        .strict = !ends_in_the_mpi(cell->way.model),
                        .tally = &tally,
                        .choose = choose_there,
                        .choice = cell};
    tell_trying(cell);
    if (why != NULL) {
        tell_not_here(cell, why, instead);
        return true;
    }
    known_native_blocking = cell->way.model == &cco_model_mpi;
    run_groups(cell, &plan, seconds);
    const struct found mine = tell_found();
    long sums[] = {tally.tried, tally.refused, mine.compared, mine.wrong};
    sum_up(sums, 4);
    if (sums[3] > 0)
        tell_wrong(cell, (struct found){sums[2], sums[3]});
    else if (sums[0] == sums[1])
        tell_not_here(cell, "every call was refused", NULL);
    else
        tell_fine(cell, sums[0], sums[1]);
    return sums[3] == 0;
}
