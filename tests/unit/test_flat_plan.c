/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flat_plan.c - how the ranks of a planned call write their slots.  Needs no running MPI. */
#include "transport/shm/flat_plan.h"

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
    const cco_problem q = {.coll = coll, .size = ranks, .commutative = true,
                           .bytes = own ? 0 : side.each, .unit = 1, .in = side, .out = side};
    const cco_flat plan = cco_flat_plan(&q, rooms, LEN(rooms), crowded);
    for (int i = 1; i < plan.stages; i++)
        CHECK(plan.stage[i].use == plan.stage[0].use, "stage %d of collective %d", i, (int)coll);
    return plan.stage[0].use;
}

int main(void)
{
    for (int i = 0; i < LEN(cases); i++) {
        const int ranks = cases[i].ranks;
        CHECK(use_of(cases[i].coll, ranks, false) == cases[i].alone, "case %d", i);
        CHECK(use_of(cases[i].coll, ranks, true) == cases[i].crowded, "case %d, crowded", i);
    }
    return testing_end("test_flat_plan");
}
