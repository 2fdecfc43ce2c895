/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - see turns.h.
 *
 * A turn is a broadcast, or a scatterv where ranks need different parts: a call of its own over the
 * slot rings.  From the last rank to the first, so that the result is that of the order of ranks.
 * Long vectors go in parts of whole elements, for memory that does not grow with them. */
#include "transport/shm/turns.h"

#include <stdlib.h>
#include <string.h>

#include "call/collectives.h"
#include "transport/local/elements.h"
#include "transport/shm/flat_plan.h"

enum { PART = 1 << 20 }; /* bytes of a part, or one element: the same on all ranks */

typedef struct turns {
    cco_slot_ring *rings;
    const size_t *rooms;
    int count; /* of rings */
    bool crowded;
    const cco_problem *q;
    const cco_binding *binding;
    size_t part;   /* bytes of a block in one part */
    char *operand; /* of another rank: a part */
    size_t *n;     /* of the parts that a rank gives to each */
    ptrdiff_t *at; /* where they begin */
} turns;

/* What is left of `n` bytes at `at`, at most a part. */
static size_t shm_turns_part_of(const turns *t, size_t n, size_t at)
{
    const size_t left = n > at ? n - at : 0;
    return left < t->part ? left : t->part;
}

/* Whether the operand of `giver` is part of what a rank gets. */
static bool shm_turns_concerns(const cco_problem *q, int giver, int rank)
{
    return q->coll == CCO_REDUCE   ? rank == q->root
           : q->coll == CCO_SCAN   ? giver <= rank
           : q->coll == CCO_EXSCAN ? giver < rank
                                   : true;
}

/* What every rank needs of an operand, of the part at `at` of its block. */
static void find_parts(const turns *t, int giver, size_t at)
{
    const cco_problem *q = t->q;
    const bool scatters = cco_coll_infos[q->coll].in & CCO_EACH;
    for (int i = 0; i < q->size; i++) {
        const cco_span block = scatters ? cco_block(q, &q->in, i) : cco_whole(&q->in);
        t->n[i] = shm_turns_concerns(q, giver, i) ? shm_turns_part_of(t, block.n, at) : 0;
        t->at[i] = block.at + (ptrdiff_t)at;
    }
}

/* A rank's operand goes to `to` of all, a part of each rank's block, or the same for all. */
static int shm_turns_give(const turns *t, int giver, char *to)
{
    const cco_problem *q = t->q;
    const bool alike = q->coll == CCO_ALLREDUCE, mine = q->rank == giver;
    cco_problem move = {.coll = alike ? CCO_BCAST : CCO_SCATTERV,
                        .rank = q->rank,
                        .size = q->size,
                        .root = giver,
                        .commutative = true,
                        .bytes = alike ? t->n[0] : 0,
                        .unit = 1,
                        .out = {.base = CCO_OUT, .blocks = 1, .each = t->n[q->rank]}};
    cco_binding binding = {.base = {[CCO_IN] = t->binding->base[CCO_IN], [CCO_OUT] = to}};
    if (alike && mine)
        binding.base[CCO_OUT] = binding.base[CCO_IN] + t->at[giver];
    if (!alike && mine)
        move.in = (cco_side){.base = CCO_IN, .blocks = q->size, .n = t->n, .at = t->at};
    cco_flat plan = cco_flat_plan(&move, t->rooms, t->count, t->crowded);
    cco_flat_is_part(&plan, cco_stamp(q->coll, q->root, alike ? q->bytes : 0));
    const int rc = cco_flat_run(t->rings, &plan, &move, &binding, NULL);
    if (alike && mine)
        memcpy(to, binding.base[CCO_OUT], t->n[giver]);
    return rc;
}

/* All operands of the part at `at`, the last of them straight to the result. */
static int run_part(const turns *t, size_t at)
{
    const cco_problem *q = t->q;
    char *result = t->binding->base[CCO_OUT] + at;
    bool first = true;
    int rc = MPI_SUCCESS;
    for (int giver = q->size - 1; giver >= 0; giver--) {
        find_parts(t, giver, at);
        const size_t n = t->n[q->rank];
        int one = shm_turns_give(t, giver, first && n > 0 ? result : t->operand);
        if (one == MPI_SUCCESS && !first)
            one = cco_elements_combine(t->binding->elements, t->operand, result, n);
        first = first && n == 0;
        rc = rc == MPI_SUCCESS ? one : rc; /* the others count on the turns that are left */
    }
    return rc;
}

/* The longest block of the operands. */
static size_t shm_turns_longest(const cco_problem *q)
{
    size_t most = q->in.each;
    for (int i = 0; q->in.n != NULL && i < q->in.blocks; i++)
        most = q->in.n[i] > most ? q->in.n[i] : most;
    return most;
}

/* All parts. */
static int run_parts(const turns *t, size_t all)
{
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < all; at += t->part) {
        const int one = run_part(t, at);
        rc = rc == MPI_SUCCESS ? one : rc;
    }
    return rc;
}

int cco_turns_run(cco_slot_ring *rings, const size_t *rooms, int n, bool crowded,
                  const cco_problem *q, const cco_binding *binding)
{
    const size_t ranks = (size_t)q->size, all = shm_turns_longest(q);
    turns t = {rings, rooms, n, crowded, q, binding, .part = q->unit};
    if (PART > q->unit)
        t.part = PART / q->unit * q->unit;
    t.operand = malloc((all < t.part ? all : t.part) + 1);
    t.n = malloc(ranks * sizeof *t.n);
    t.at = malloc(ranks * sizeof *t.at);
    const bool room = t.operand != NULL && t.n != NULL && t.at != NULL;
    const int rc = room ? run_parts(&t, all) : MPI_ERR_NO_MEM;
    free(t.operand);
    free(t.n);
    free(t.at);
    return rc;
}
