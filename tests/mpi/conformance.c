/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance.c - every collective, in every mode, under one implementation, against definition and
 * MPI.
 *
 *     conformance IMPL,... [--sparse N] [--half 1|2] [--mode MODE,...] [--collective NAME,...]
 *                          [--protected yes]
 *
 * --sparse N tries every N-th problem in each mode, where calls take long with more ranks than
 * cores; --half only one half of these. The first implementation is also compared with the MPI's
 * own calls.
 * --mode and --collective: only these.
 * --protected overwrites send buffers after a begin (CRESTA_PROTECTED_BUFFER=1). Compiled with
 * -DPLAIN_MPI it makes MPI_x calls, and CRESTA_IMPL chooses under the preload library.
 */
#include "groups.h"
#include "kinds.h"
#include "known.h"
#include "testing/testing.h"

/* An algorithm by its name is one of other collectives. */
static bool has_neighbors(const char *impl)
{
    return strchr(impl, ':') == NULL;
}

static void choose(MPI_Comm comm, const char *impl)
{
#ifdef PLAIN_MPI
    (void)comm, (void)impl;
#else
    char spec[256];
    snprintf(spec, sizeof spec, "*=%s%s%s", impl, has_neighbors(impl) ? ",neighbor_*=" : "",
             has_neighbors(impl) ? impl : "");
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
    CHECK(CRESTA_Comm_prepare(comm) == MPI_SUCCESS, "CRESTA_Comm_prepare");
#endif
}

static void choose_there(const void *impl, MPI_Comm comm)
{
    choose(comm, impl);
}

/* MPI allows to free a communicator while an operation on it is under way. */
static void free_in_flight(const char *impl)
{
    for (enum mode mode = NONBLOCKING; mode < MODES; mode++) {
        MPI_Comm comm;
        MPI_Request request;
        int size, one = 1, sum = 0;
        if (mode != NONBLOCKING && mode != LARGE_NONBLOCKING && mode != SPLIT)
            continue;
        snprintf(testing_label, sizeof testing_label, "communicator freed in flight, %s",
                 mode_names[mode]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_size(comm, &size);
        choose(comm, impl);
        const struct call call = {.coll = COLL_Allreduce,
                                  .sendbuf = &one,
                                  .sendtype = MPI_DATATYPE_NULL,
                                  .recvbuf = &sum,
                                  .recvcount = 1,
                                  .recvtype = MPI_INT,
                                  .op = MPI_SUM,
                                  .comm = comm};
        if (mode_exists(mode)) {
            CHECK(call_make(mode, &call, &request) == MPI_SUCCESS, "start");
            MPI_Comm_free(&comm);
            CHECK(wait_politely(&request) == MPI_SUCCESS && sum == size, "sum %d of %d", sum, size);
        } else
            MPI_Comm_free(&comm);
    }
}

static struct options {
    const char *impls;
    struct plan plan;
} options;

static unsigned one_of(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return 1U << i;
    fprintf(stderr, "conformance: no '%s'\n", name);
    exit(2);
}

static unsigned some_of(char *list, const char *const *names, int n)
{
    unsigned some = 0;
    for (char *name; (name = strsep(&list, ",")) != NULL;)
        some |= one_of(name, names, n);
    return some;
}

static struct options options_of(int argc, char **argv)
{
    struct options o = {"mpi",
                        {.modes = EVERYTHING, .colls = EVERYTHING, .every = 1, .reference = true}};
    if (argc > 1)
        o.impls = argv[1];
    for (int i = 2; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--sparse") == 0)
            o.plan.every = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--half") == 0)
            o.plan.half = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--mode") == 0)
            o.plan.modes = some_of(argv[i + 1], mode_names, MODES);
        else if (strcmp(argv[i], "--protected") == 0)
            o.plan.protected = strcmp(argv[i + 1], "yes") == 0;
        else if (strcmp(argv[i], "--collective") == 0)
            o.plan.colls = some_of(argv[i + 1], coll_names, COLLS);
    return o;
}

static void run_group(const struct group *group, const char *impl)
{
    const bool main_group = group == &groups[0] || group == &groups[1];
    struct plan plan = options.plan;
    plan.every *= main_group ? 1 : 5;
    plan.reference = main_group && options.plan.reference;
    choose(group->comm, impl);
    if (plan.colls & 1U << COLL_Barrier)
        barrier_run(group, &plan);
    movement_run(group, &plan);
    reduction_run(group, &plan);
    plan.choose = choose_there;
    plan.choice = impl;
    if (has_neighbors(impl))
        neighbors_run(group, &plan);
}

static void run(const char *impl)
{
    known_native_blocking = strcmp(impl, "mpi") == 0;
    groups_make();
    for (int i = 0; i < GROUPS; i++)
        if (groups[i].comm != MPI_COMM_NULL)
            run_group(&groups[i], impl);
    if (known_bug_free_in_flight())
        known_report(known_bug_free_in_flight());
    else if (options.plan.modes == EVERYTHING)
        free_in_flight(impl);
    groups_free();
    options.plan.reference = false; /* the MPI's own calls are the same under each */
}

int main(int argc, char **argv)
{
    options = options_of(argc, argv);
    testing_watchdog(100);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    layouts_make();
    kinds_make();
    testing_each(options.impls, run);
    kinds_free();
    layouts_free();
    MPI_Finalize();
    return testing_end("conformance");
}
