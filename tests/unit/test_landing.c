/* SPDX-License-Identifier: BSD-3-Clause */
/* test_landing.c - an early look at the blocks that have landed leaves out those that no message of
 * the open round has brought, and a later one does not. */
#include <stdlib.h>
#include <string.h>

#include "algo/registry.h"
#include "sched/block_progress.h"
#include "testing/testing.h"

enum { RANKS = 3, BYTES = 8 };

static bool come, ended; /* the message that is received has come; the whole round is over */

static void *open_transfer(void *shared, int messages)
{
    (void)messages;
    return shared;
}

static void nothing(void *transfer)
{
    (void)transfer;
}

static int start(void *transfer, int peer, const cco_data *data)
{
    (void)transfer, (void)peer, (void)data;
    return MPI_SUCCESS;
}

static int test(void *transfer, bool *done)
{
    (void)transfer;
    *done = ended;
    return MPI_SUCCESS;
}

static int over(void *transfer, int number, bool *is_over)
{
    (void)transfer, (void)number;
    *is_over = come;
    return MPI_SUCCESS;
}

static int copy(void *transfer, const cco_data *from, const cco_data *to)
{
    (void)transfer;
    memcpy(to->at, from->at, cco_data_bytes(from));
    return MPI_SUCCESS;
}

static const cco_transport transport = {.name = "told",
                                        .open = open_transfer,
                                        .close = nothing,
                                        .begin = nothing,
                                        .recv = start,
                                        .send = start,
                                        .test = test,
                                        .over = over,
                                        .abandon = nothing,
                                        .copy = copy};

static void look(cco_block_progress *l, const cco_block_progress_map *map, cco_engine *e,
                 bool early, int landed)
{
    CHECK(cco_block_progress_look(l, map, e, early, NULL, NULL) == MPI_SUCCESS, "an error");
    CHECK(cco_block_progress_count(l) == landed, "%d blocks have landed, not %d",
          cco_block_progress_count(l), landed);
}

/* The alltoall of three ranks has two rounds of messages, and the own block. */
static void try_rounds(cco_engine *e, const cco_block_progress_map *map)
{
    bool done;
    cco_block_progress *l = cco_block_progress_new(RANKS);
    look(l, map, e, true, 0); /* the own block has been copied */
    come = true;
    look(l, map, e, true, 1); /* the message of the round counts at once, */
    look(l, map, e, false, 2);
    come = false, ended = true;
    CHECK(cco_engine_test(e, &done) == MPI_SUCCESS && !done, "the first round");
    look(l, map, e, true, 2);
    cco_block_progress_rest(l);
    CHECK(cco_block_progress_count(l) == RANKS, "%d in the end", cco_block_progress_count(l));
    cco_block_progress_free(l);
}

/* A round whose blocks were not reported: they wait until the next one is under way. */
static void try_next(cco_engine *e, const cco_block_progress_map *map)
{
    cco_block_progress *l = cco_block_progress_new(RANKS);
    look(l, map, e, true, 0);
    look(l, map, e, false, 2);
    cco_block_progress_free(l);
}

int main(void)
{
    static char in[RANKS * BYTES], out[RANKS * BYTES];
    static const cco_layout bytes = {.size = 1, .extent = 1, .dense = true};
    const cco_layout layouts[CCO_BASES] = {bytes, bytes, bytes};
    const cco_side side = {.blocks = RANKS, .each = BYTES, .pitch = BYTES};
    cco_problem q = {.coll = CCO_ALLTOALL,
                     .size = RANKS,
                     .bytes = BYTES,
                     .unit = 1,
                     .commutative = true,
                     .in = side,
                     .out = side,
                     .layouts = layouts};
    q.in.base = q.in.layout = CCO_IN;
    q.out.base = q.out.layout = CCO_OUT;
    cco_sched *s = cco_sched_new(&q);
    cco_alltoall_pairwise.build(s, &q);
    cco_engine *e = cco_engine_new(s, &transport, &come);
    cco_block_progress_map *map = cco_block_progress_map_new(e, &q);
    cco_binding binding = {.base = {in, out, NULL}};
    memcpy(binding.layouts, layouts, sizeof layouts);
    CHECK(cco_engine_start(e, &binding) == MPI_SUCCESS, "it does not start");
    try_rounds(e, map);
    try_next(e, map);
    cco_block_progress_map_free(map);
    cco_engine_free(e);
    cco_sched_free(s);
    return testing_end("landing");
}
