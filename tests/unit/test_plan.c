/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c - plans are kept for their problem, within bounds, the least recently used out first.
 */
#include "algo/registry.h"
#include "plan/plan.h"
#include "testing/testing.h"
#include "transport/hook/hook.h"

enum { KEPT = 32 };

static const cco_layout bytes[CCO_BASES] = {{.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true}};

/* A bcast of `n` bytes by rank 0 of `p`. */
static cco_problem bcast(int p, size_t n)
{
    return (cco_problem){
        .coll = CCO_BCAST,
        .size = p,
        .commutative = true,
        .bytes = n,
        .unit = 1,
        .out = {.base = CCO_OUT, .blocks = 1, .layout = CCO_OUT, .each = n},
        .layouts = bytes,
    };
}

static cco_plan *find(cco_plans *plans, const cco_algo *algo, const cco_problem *q)
{
    cco_plan *plan = NULL;
    CHECK(cco_plan_find(plans, algo, q, &plan) == MPI_SUCCESS, "plan of %zu bytes", q->bytes);
    return plan;
}

static int count(const cco_plans *plans)
{
    int n = 0;
    for (const cco_plan *plan = plans->first; plan != NULL; plan = plan->next)
        n++;
    return n;
}

static bool keeps(const cco_plans *plans, size_t n)
{
    for (const cco_plan *plan = plans->first; plan != NULL; plan = plan->next)
        if (plan->problem.bytes == n)
            return true;
    return false;
}

static void test_bound(cco_plans *plans)
{
    for (size_t n = 1; n <= KEPT; n++) {
        const cco_problem q = bcast(4, n);
        find(plans, &cco_bcast_binomial, &q);
    }
    CHECK(count(plans) == KEPT && plans->drops == 0, "%d kept", count(plans));
    const cco_problem first = bcast(4, 1), one_more = bcast(4, 1000);
    find(plans, &cco_bcast_binomial, &first); /* used again: 2 is the oldest now */
    find(plans, &cco_bcast_binomial, &one_more);
    CHECK(count(plans) == KEPT && plans->drops == 0, "%d kept", count(plans));
    CHECK(keeps(plans, 1) && !keeps(plans, 2) && keeps(plans, 3), "not the oldest went");
    cco_plans_empty(plans);
    CHECK(plans->first == NULL && plans->memory == 0, "%zu bytes left", plans->memory);
}

/* What makes another schedule must make another plan, and nothing else. */
static void test_keys(cco_plans *plans)
{
    cco_layout gaps[CCO_BASES] = {bytes[0], bytes[1], bytes[2]}, typed[CCO_BASES];
    const size_t sizes[] = {1, 2, 3, 4}, others[] = {1, 2, 4, 3};
    const ptrdiff_t places[] = {0, 4, 8, 12};
    cco_problem q = bcast(4, 8);
    cco_plan *plan = find(plans, &cco_bcast_binomial, &q);
    CHECK(find(plans, &cco_bcast_binomial, &q) == plan, "not found again");
    CHECK(find(plans, &cco_bcast_linear, &q) != plan, "another algorithm");
    cco_problem coll = q, root = q, unit = q, layout = q, param = q, type = q;
    cco_problem uneven = q, uneven2 = q;
    coll.coll = CCO_SCATTER; /* an algorithm may serve several */
    root.root = 3;
    unit.unit = 4;
    gaps[CCO_OUT].extent = 2;
    layout.layouts = gaps;
    param.params[0] = 7;
    uneven.in = (cco_side){.blocks = 4, .n = sizes, .at = places};
    uneven2.in = (cco_side){.blocks = 4, .n = others, .at = places};
    memcpy(typed, bytes, sizeof typed);
    typed[CCO_OUT].type = MPI_CHAR;
    type.layouts = typed;
    CHECK(find(plans, &cco_bcast_binomial, &coll) != plan, "another collective");
    CHECK(find(plans, &cco_bcast_binomial, &root) != plan, "another root");
    CHECK(find(plans, &cco_bcast_binomial, &unit) != plan, "another unit");
    CHECK(find(plans, &cco_bcast_binomial, &layout) != plan, "another layout");
    CHECK(find(plans, &cco_bcast_binomial, &param) != plan, "another parameter");
    cco_plan *with_sizes = find(plans, &cco_bcast_binomial, &uneven);
    CHECK(find(plans, &cco_bcast_binomial, &uneven2) != with_sizes, "other sizes");
    CHECK(find(plans, &cco_bcast_binomial, &uneven) == with_sizes, "the same sizes");
    CHECK(find(plans, &cco_bcast_binomial, &type) == plan, "the type is no matter");
    CHECK(find(plans, &cco_bcast_binomial, &q) == plan, "the first is lost");
    cco_plans_empty(plans);
}

/* Plans of long schedules: memory is what bounds them. */
static void test_memory(cco_plans *plans)
{
    for (size_t n = 1; n <= KEPT; n++) {
        const cco_problem q = bcast(1000, n);
        find(plans, &cco_bcast_linear, &q);
        CHECK(plans->memory <= 1 << 20, "%zu bytes", plans->memory);
        CHECK(keeps(plans, n), "the newest is not there");
    }
    CHECK(count(plans) < KEPT, "%d kept", count(plans));
    cco_plans_empty(plans);
}

/* Plans that nobody finds again leave those that are used. */
static void test_once(cco_plans *plans)
{
    enum { USED = 20, OTHERS = 200 };
    const unsigned before = plans->drops;
    for (size_t n = 1; n <= USED; n++) {
        const cco_problem q = bcast(4, n);
        find(plans, &cco_bcast_binomial, &q)->remembered = true;
        find(plans, &cco_bcast_binomial, &q);
    }
    for (size_t n = 1; n <= OTHERS; n++) {
        const cco_problem q = bcast(4, 1000 + n), large = bcast(300, 2000 + n);
        find(plans, &cco_bcast_binomial, &q);
        find(plans, &cco_bcast_linear, &large);
    }
    for (size_t n = 1; n <= USED; n++)
        CHECK(keeps(plans, n), "plan %zu went for one used once", n);
    CHECK(plans->drops == before, "%u remembered plans went", plans->drops - before);
    CHECK(count(plans) <= KEPT && plans->memory <= 1 << 20, "%d kept", count(plans));
    cco_plans_empty(plans);
    CHECK(plans->drops == before + USED, "%u remembered plans went", plans->drops - before);
}

/* What was used again does not stay for ever: new ones that are used take its place. */
static void test_new_ones(cco_plans *plans)
{
    for (size_t n = 1; n <= 3 * KEPT; n++) {
        const cco_problem q = bcast(4, n);
        find(plans, &cco_bcast_binomial, &q);
        find(plans, &cco_bcast_binomial, &q);
    }
    for (int round = 0; round < 2; round++)
        for (size_t n = 1001; n <= 1006; n++) { /* in turn */
            const cco_problem q = bcast(4, n);
            CHECK(round == 0 || keeps(plans, n), "plan %zu is not kept", n);
            find(plans, &cco_bcast_binomial, &q);
        }
    cco_plans_empty(plans);
}

/* One that alone would fill the cache is kept, one of them, and so are all others; of large ones as
 * many as fit. */
static void test_large(cco_plans *plans)
{
    const cco_problem small = bcast(4, 1), large = bcast(50000, 2), larger = bcast(60000, 3);
    cco_plan *one = find(plans, &cco_bcast_binomial, &small);
    cco_plan *other = find(plans, &cco_bcast_linear, &large);
    CHECK(other->memory > 1 << 20, "%zu bytes are not much", other->memory);
    CHECK(find(plans, &cco_bcast_linear, &large) == other, "the large one is not kept");
    CHECK(find(plans, &cco_bcast_binomial, &small) == one, "the small one went");
    find(plans, &cco_bcast_linear, &larger);
    CHECK(keeps(plans, 1) && !keeps(plans, 2) && keeps(plans, 3), "two too large ones are kept");
    for (size_t n = 4; n < 6; n++) {
        const cco_problem half = bcast(5000, n);
        cco_plan *plan = find(plans, &cco_bcast_linear, &half);
        CHECK(plan->memory > 1 << 18 && plan->memory < 1 << 19, "%zu bytes", plan->memory);
    }
    CHECK(keeps(plans, 1) && keeps(plans, 4) && keeps(plans, 5), "two that fit are not kept");
    cco_plans_empty(plans);
    CHECK(plans->memory == 0, "%zu bytes left", plans->memory);
}

int main(void)
{
    cco_hook hook = {.inner = NULL};
    cco_plans plans = {.transport = &cco_transport_hook, .shared = &hook};
    test_bound(&plans);
    test_keys(&plans);
    test_memory(&plans);
    test_once(&plans);
    test_new_ones(&plans);
    test_large(&plans);
    return testing_end("test_plan");
}
