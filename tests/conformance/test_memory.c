/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memory.c - the k-th allocation fails, for every k: the plan that is made of each algorithm's
 * schedule then says so, and nothing is lost (run it under AddressSanitizer or valgrind).
 * conformance.c does so with the schedules alone. */
#include <mpi.h>

#include "failing.h"
#include "plan/plan.h"
#include "testing/testing.h"
#include "simulator/matcher.h"
#include "world.h"

/* With a plan in an empty cache. */
static bool plan_with_failure(cco_plans *plans, const cco_algo *algo, const cco_problem *q, long k)
{
    cco_plan *plan = NULL, *before = NULL;
    failing_begin(k);
    const int rc = cco_plan_find(plans, algo, q, &plan);
    const bool all_went_well = !failing_end();
    CHECK(rc == (all_went_well ? MPI_SUCCESS : MPI_ERR_NO_MEM), "class %d after failure %ld", rc,
          k);
    CHECK((plans->first != NULL) == all_went_well, "kept after failure %ld", k);
    if (all_went_well)
        CHECK(cco_plan_find(plans, algo, q, &before) == MPI_SUCCESS && before == plan,
              "made again although it was kept");
    cco_plans_empty(plans);
    return all_went_well;
}

static void try_algorithm(const cco_algo *algo, cco_coll coll)
{
    const world_case c = {.coll = coll, .p = 7, .n = 9, .nodes = 5, .commutative = true};
    world *w = world_new(&c);
    snprintf(testing_label, sizeof testing_label, "%s/%s", cco_coll_infos[coll].name, algo->name);
    for (int rank = 0; rank < 7; rank++) {
        cco_problem *q = &w->problems[rank];
        q->counts = cco_algo_shares(algo, coll) ? world_counts(w, rank) : NULL;
        for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            q->params[k] = algo->params[k].preset;
        cco_matcher matcher = {0};
        cco_endpoint endpoint = {&matcher, rank};
        cco_plans plans = {.transport = &cco_transport_matcher, .shared = &endpoint};
        for (long k = 0;
             cco_algo_refuses(algo, q) == NULL && !plan_with_failure(&plans, algo, q, k); k++)
            ;
    }
    world_free(w);
}

int main(void)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; cco_node_algo_of((cco_coll)coll, i) != NULL; i++)
            try_algorithm(cco_node_algo_of((cco_coll)coll, i), (cco_coll)coll);
    return testing_end("test_memory");
}
