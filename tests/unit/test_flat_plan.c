/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flat_plan.c - how the ranks of a planned call write their slots, and what they get.  Needs
 * no running MPI. */
#include "transport/shm/flat_plan.h"

#include "base/core_place.h"

#include "testing/testing.h"

enum { KIB = 1024 };

static const size_t rooms[] = {KIB / 4, 8 * KIB, 64 * KIB};

static const struct {
    cco_coll coll;
    int ranks;
    cco_writes_use alone, crowded; /* each rank has a core; ranks take turns */
} cases[] = {
    {CCO_ALLTOALL, 4, CCO_WRITES_AT_ONCE, CCO_WRITES_IN_TURN},
    {CCO_ALLTOALL, 2, CCO_WRITES_AT_ONCE, CCO_WRITES_AT_ONCE},
    {CCO_ALLTOALLV, 4, CCO_WRITES_AT_ONCE, CCO_WRITES_IN_TURN},
    {CCO_ALLGATHER, 4, CCO_WRITES_AT_ONCE, CCO_WRITES_AT_ONCE}, /* each line has three readers */
    {CCO_ALLREDUCE, 4, CCO_WRITES_AT_ONCE, CCO_WRITES_AT_ONCE},
    {CCO_BCAST, 4, CCO_WRITES_ONE_WAY, CCO_WRITES_ONE_WAY},
    {CCO_SCATTER, 4, CCO_WRITES_ONE_WAY, CCO_WRITES_ONE_WAY},
    {CCO_SCATTER, 2, CCO_WRITES_ONE_WAY, CCO_WRITES_ONE_WAY},
    {CCO_GATHER, 2, CCO_WRITES_TO_ONE, CCO_WRITES_TO_ONE},
    {CCO_REDUCE, 2, CCO_WRITES_TO_ONE, CCO_WRITES_TO_ONE},
    {CCO_SCAN, 2, CCO_WRITES_ONE_WAY, CCO_WRITES_ONE_WAY},
};

static cco_writes_use use_of(cco_coll coll, int ranks, bool crowded)
{
    const cco_side side = {.blocks = ranks, .each = 32 * KIB, .pitch = 32 * KIB};
    const bool own = cco_coll_infos[coll].properties & CCO_COUNTS;
    const cco_problem q = {.coll = coll,
                           .size = ranks,
                           .commutative = true,
                           .bytes = own ? 0 : side.each,
                           .unit = 1,
                           .in = side,
                           .out = side};
    const cco_flat plan = cco_flat_plan(&q, rooms, LEN(rooms), crowded);
    for (int i = 1; i < plan.stages; i++)
        CHECK(plan.stage[i].use == plan.stage[0].use, "stage %d of collective %d", i, (int)coll);
    return plan.stage[0].use;
}

#if defined(__x86_64__)
static const bool has_such_stores = true; /* that go past caches */
#else
static const bool has_such_stores = false;
#endif

enum { CACHE = 32 * KIB * KIB };
static cco_last_cache cache;

cco_last_cache __wrap_cco_last_cache_here(void);
cco_last_cache __wrap_cco_last_cache_here(void)
{
    return cache;
}

/* What a call moves among ranks that share a cache: in a gather or a scatter all blocks twice, in
 * an alltoall twice as many of each rank. */
static const struct {
    cco_coll coll;
    int ranks, cores;
    size_t block, most; /* bytes that fit, and that do not */
} results[] = {
    {CCO_GATHER, 2, 2, CACHE / 4 - KIB, CACHE / 4},
    {CCO_GATHER, 8, 2, CACHE / 10 - KIB, CACHE / 10 + KIB}, /* others have caches of their own */
    {CCO_SCATTER, 4, 4, CACHE / 8 - KIB, CACHE / 8},
    {CCO_GATHERV, 4, 4, CACHE / 8 - KIB, CACHE / 8},
    {CCO_BCAST, 2, 2, CACHE / 2 - KIB, CACHE / 2},
    {CCO_ALLTOALL, 2, 2, CACHE / 8 - KIB, CACHE / 8},
    {CCO_ALLTOALL, 2, 1, CACHE / 4 - KIB, CACHE / 4},
    {CCO_ALLREDUCE, 2, 2, CACHE, 0}, /* kernels write the results of reductions */
    {CCO_ALLTOALL, 64, 2, CACHE, 0}, /* pieces are small */
};

static bool past(int i, size_t block, int rank)
{
    const cco_coll_info *info = &cco_coll_infos[results[i].coll];
    const int ranks = results[i].ranks;
    size_t n[64];
    for (int k = 0; k < ranks; k++)
        n[k] = block;
    cco_problem q = {.coll = results[i].coll,
                     .rank = rank,
                     .size = ranks,
                     .commutative = true,
                     .bytes = block,
                     .unit = 1,
                     .in = {.blocks = cco_blocks(info->in, rank == 0, ranks), .each = block},
                     .out = {.blocks = cco_blocks(info->out, rank == 0, ranks), .each = block}};
    if (q.coll == CCO_GATHERV && rank == 0)
        q.out.n = n;
    const cco_flat plan = cco_flat_plan(&q, rooms, LEN(rooms), false);
    return plan.stage[plan.stages - 1].past;
}

/* On the root, and on another rank. */
static void results_past_caches(void)
{
    for (int i = 0; i < LEN(results); i++)
        for (int rank = 0; rank < 2; rank++) {
            cache = (cco_last_cache){CACHE, results[i].cores};
            CHECK(!past(i, results[i].block, rank), "case %d, rank %d: fits", i, rank);
            CHECK(results[i].most == 0 || past(i, results[i].most, rank), "case %d, rank %d", i,
                  rank);
            cache.bytes = SIZE_MAX;
            CHECK(!past(i, results[i].most, rank), "case %d, rank %d: not known", i, rank);
        }
}

/* What one of two ranks gives and gets in a call whose blocks differ: `mine` and `others`. */
static cco_flat plan_of(cco_coll coll, int rank, const size_t *mine, const size_t *others,
                        bool crowded)
{
    const cco_coll_info *info = &cco_coll_infos[coll];
    const bool all = info->in & CCO_EACH;
    const size_t gathered[2] = {rank == 0 ? mine[0] : others[0], rank == 0 ? others[0] : mine[0]},
                 crosswise[2] = {rank == 0 ? mine[0] : others[0], rank == 0 ? others[1] : mine[1]};
    cco_problem q = {.coll = coll,
                     .rank = rank,
                     .size = 2,
                     .commutative = true,
                     .unit = 1,
                     .in = {.blocks = cco_blocks(info->in, rank == 0, 2), .each = mine[0]},
                     .out = {.blocks = cco_blocks(info->out, rank == 0, 2), .each = mine[0]}};
    if (all)
        q.in.n = mine;
    q.out.n = all ? crosswise : gathered;
    return cco_flat_plan(&q, rooms, LEN(rooms), crowded);
}

/* Both ranks use the same slots for the same pieces, whatever each gives. */
static void both_plan_alike(void)
{
    enum { MOST = 8, STEP = 48 * KIB, CASES = MOST * MOST * 4 };
    static const cco_coll colls[] = {CCO_ALLGATHERV, CCO_ALLTOALLV};
    int all = 0;
    for (int i = 0; i < CASES; i++) {
        const cco_coll coll = colls[i & 1];
        const bool crowded = i & 2;
        const size_t a = (size_t)(i / 4 % MOST) * STEP, b = (size_t)(i / 4 / MOST) * STEP;
        const size_t first[2] = {a, a}, second[2] = {b, b};
        const cco_stage x = plan_of(coll, 0, first, second, crowded).stage[0],
                        y = plan_of(coll, 1, second, first, crowded).stage[0];
        CHECK(x.ring == y.ring && x.window == y.window && x.rounds == y.rounds &&
                  x.pieces == y.pieces && x.swaps.slots == y.swaps.slots &&
                  x.swaps.anew == y.swaps.anew,
              "collective %d, %zu and %zu bytes", (int)coll, a, b);
        all += !crowded && x.swaps.slots == CCO_SLOT_RING_MOST;
    }
    CHECK(all > CASES / 8 && all < CASES / 2, "%d of %d calls use all slots", all, CASES / 2);
}

int main(void)
{
    if (has_such_stores)
        results_past_caches();
    both_plan_alike();
    for (int i = 0; i < LEN(cases); i++) {
        const int ranks = cases[i].ranks;
        CHECK(use_of(cases[i].coll, ranks, false) == cases[i].alone, "case %d", i);
        CHECK(use_of(cases[i].coll, ranks, true) == cases[i].crowded, "case %d, crowded", i);
    }
    return testing_end("test_flat_plan");
}
