/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithms.c - every algorithm of every model on real ranks, named in a rule, against the
 * definition of its collective.  A new algorithm adds nothing here: the registry lists it.
 *
 *     CRESTA_FALLBACK=error algorithms [COLLECTIVE[/ALGORITHM]] [--sparse N] [--but MODEL]
 *
 * Each runs with its preset parameters and, if it has some, once more with others.  What it cannot
 * do must be refused, so that nothing else is tested under its name: for a number of ranks as a
 * whole, which is told, or for a root or an operation, which is counted. */
#include "algo/algo.h"
#include "kinds.h"
#include "known.h"
#include "model/registry.h"
#include "testing/testing.h"
#include "trial.h"

enum { ROOM = 64 }; /* characters of an implementation, as rules have them */

static long algorithms, tried, refused;

/* Small enough to cut something, and not the preset. */
static long other_value(const cco_param *p)
{
    long value = p->preset + 1;
    if (p->names == NULL && p->preset >= 4096)
        value = 1000;
    else if (p->names == NULL && p->preset >= 8)
        value = p->preset / 8;
    return value > p->max ? p->min : value;
}

/* "k=3", or by its name: "order=random". */
static int put_param(char *text, size_t room, const cco_param *p, char before)
{
    const long value = other_value(p);
    const char *name = p->names;
    for (long i = 0; name != NULL && i < value; i++)
        name = strchr(name, '|') + 1;
    if (name == NULL)
        return snprintf(text, room, "%c%s=%ld", before, p->name, value);
    return snprintf(text, room, "%c%s=%.*s", before, p->name, (int)strcspn(name, "|"), name);
}

/* "p2p:chunked", or "p2p:chunked?chunk=1000&order=random&seed=2". */
static void put_impl(char *text, const cco_way *way, bool others)
{
    int used = snprintf(text, ROOM, "%s:%s", way->model->name, way->algo->name);
    for (int k = 0; others && k < CCO_PARAMS && way->algo->params[k].name != NULL; k++)
        used += put_param(text + used, ROOM - (size_t)used, &way->algo->params[k], k ? '&' : '?');
    CHECK(used < ROOM, "%s: no room", text);
}

static enum coll same_coll(cco_coll coll)
{
    enum coll same = 0;
    while (same < COLLS && strcmp(coll_names[same], cco_coll_infos[coll].name) != 0)
        same++;
    return same;
}

static void run_impl(const struct group *group, cco_coll coll, const char *impl, int every)
{
    char spec[2 * ROOM];
    struct tally tally = {0};
    const struct group named = {spec, group->comm, group->rank, group->size}; /* for messages */
    const struct plan plan = {
        .modes = 1U << BLOCKING, .colls = 1U << same_coll(coll), .every = every, .tally = &tally};
    snprintf(spec, sizeof spec, "%s=%s", cco_coll_infos[coll].name, impl);
    snprintf(testing_label, sizeof testing_label, "%s", spec);
    if (!CHECK(CRESTA_Set_impl(group->comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl"))
        return;
    if (coll == CCO_BARRIER)
        barrier_run(&named, &plan);
    movement_run(&named, &plan);
    reduction_run(&named, &plan);
    CHECK(coll == CCO_BARRIER || tally.tried > tally.refused, "%s: nothing ran", spec);
    tried += tally.tried;
    refused += tally.refused;
}

static void run_algorithm(const struct group *group, const cco_way *way, cco_coll coll, int every)
{
    char impl[ROOM];
    const char *const why = way->model->refuses != NULL
                                ? way->model->refuses(way, coll, group->size)
                                : NULL;
    if (why != NULL && testing_rank == 0)
        printf("left out: %s=%s:%s: %s\n", cco_coll_infos[coll].name, way->model->name,
               way->algo->name, why);
    if (why != NULL)
        return;
    algorithms++;
    for (int others = 0; others <= (way->algo->params[0].name != NULL); others++) {
        put_impl(impl, way, others);
        run_impl(group, coll, impl, every);
    }
}

/* "allreduce" and "allreduce/ring" ask for allreduce/ring; so does nothing. */
static bool asked_for(const char *what, cco_coll coll, const cco_algo *algo)
{
    char name[ROOM];
    snprintf(name, sizeof name, "%s/%s", cco_coll_infos[coll].name, algo->name);
    const size_t length = strlen(what);
    return strncmp(what, name, length) == 0 && (name[length] == '/' || name[length] == '\0');
}

static void run_model(const struct group *group, const cco_model *model, const char *what,
                      int every)
{
    cco_way way = {.model = model};
    for (int c = 0; c < CCO_COLLECTIVES && model->algorithms != NULL; c++)
        for (int i = 0; (way.algo = model->algorithms((cco_coll)c, i)) != NULL; i++)
            if (what[0] == '\0' || asked_for(what, (cco_coll)c, way.algo))
                run_algorithm(group, &way, (cco_coll)c, every);
}

int main(int argc, char **argv)
{
    const char *fallback = getenv("CRESTA_FALLBACK"), *what = "", *but = "";
    struct group group = {.name = "world"};
    int every = 1;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--sparse") == 0 && i + 1 < argc)
            every = atoi(argv[++i]);
        else if (strcmp(argv[i], "--but") == 0 && i + 1 < argc)
            but = argv[++i];
        else
            what = argv[i];
    testing_watchdog(100);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &group.comm);
    MPI_Comm_set_errhandler(group.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group.comm, &group.rank);
    MPI_Comm_size(group.comm, &group.size);
    testing_rank = group.rank;
    CHECK(fallback != NULL && strcmp(fallback, "error") == 0, "set CRESTA_FALLBACK=error");
    layouts_make();
    kinds_make();
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->lacking == NULL && strcmp(cco_models[i]->name, but) != 0)
            run_model(&group, cco_models[i], what, every);
    CHECK(algorithms > 0, "no algorithm '%s'", what);
    if (testing_rank == 0)
        printf("%ld algorithms, %ld problems; refused because of root or operation: %ld\n",
               algorithms, tried, refused);
    kinds_free();
    layouts_free();
    MPI_Comm_free(&group.comm);
    MPI_Finalize();
    return testing_end("algorithms");
}
