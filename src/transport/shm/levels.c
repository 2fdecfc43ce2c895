/* SPDX-License-Identifier: BSD-3-Clause */
/* levels.c - see levels.h.
 *
 * Up: the members of each group give to their leader.  Across: leaders exchange.  Down: leaders
 * give to their members.  A reduction takes members in their order, then groups in theirs. */
#include "transport/shm/levels.h"

#include "transport/shm/flat_plan.h"

/* Lines of data in small calls, and one piece of a larger one. */
static const size_t slots[CCO_LEVELS_RINGS] = {256, CCO_LEVELS_MOST + CCO_SLOT_LINE};
static const unsigned counts[CCO_LEVELS_RINGS] = {CCO_SLOT_RING_MOST, 8};
static const size_t rooms[CCO_LEVELS_RINGS] = {256 - CCO_SLOT_HEAD,
                                               CCO_LEVELS_MOST + CCO_SLOT_LINE - CCO_SLOT_HEAD};

/* Parts of the scratch: what comes up, what goes across, and a byte of each member. */
enum { UP = 0, ACROSS = CCO_LEVELS_MOST, BYTES = 2 * CCO_LEVELS_MOST, SCRATCH = BYTES + 128 };

/* A call on its way. */
typedef struct run {
    cco_levels *levels;
    const cco_problem *q;
    cco_binding binding;
    int group, member, rc;
} run;

size_t cco_levels_share(void)
{
    size_t share = 0;
    for (int i = 0; i < CCO_LEVELS_RINGS; i++)
        share += cco_slot_ring_share(slots[i], counts[i]);
    return share;
}

size_t cco_levels_scratch(void)
{
    return SCRATCH;
}

static void open_rings(cco_slot_ring *rings, char *memory, size_t share, int rank, int size)
{
    for (int i = 0; i < CCO_LEVELS_RINGS; i++) {
        rings[i] = cco_slot_ring_open(memory, share, slots[i], counts[i], rank, size, 0);
        memory += cco_slot_ring_share(slots[i], counts[i]);
    }
}

void cco_levels_open(cco_levels *l, const cco_groups *groups, int rank, char *memory, size_t share,
                     size_t far)
{
    const int group = groups->group[rank], member = groups->member[rank];
    const size_t of_group = share * (size_t)groups->most;
    l->groups = groups;
    l->rank = rank;
    open_rings(l->near, memory + (size_t)group * of_group, share, member, groups->members[group]);
    if (member == 0)
        open_rings(l->far, memory + far, of_group, group, groups->count);
}

bool cco_levels_takes(cco_coll coll, size_t bytes)
{
    return coll == CCO_BARRIER ||
           ((coll == CCO_BCAST || coll == CCO_REDUCE || coll == CCO_ALLREDUCE) &&
            bytes <= CCO_LEVELS_MOST);
}

static cco_side scratch_side(ptrdiff_t at, size_t n)
{
    return (cco_side){.base = CCO_TMP,
                      .blocks = 1,
                      .layout = CCO_TMP,
                      .start = at,
                      .each = n,
                      .pitch = (ptrdiff_t)n};
}

/* One flat collective; `q` lacks what follows from the rings. */
static void levels_flat(run *r, cco_slot_ring *rings, cco_problem q)
{
    q.rank = rings->rank;
    q.size = rings->size;
    q.commutative = true;
    q.layouts = r->q->layouts;
    cco_flat plan = cco_flat_plan(&q, rooms, CCO_LEVELS_RINGS, false);
    cco_flat_is_part(&plan, cco_stamp(r->q->coll, r->q->root, r->q->bytes));
    if (rings->family != NULL && (r->levels->near_family.unlike.met ||
                                  r->levels->far_family.unlike.met)) /* wrong data came into it */
        plan.stage[0].word = CCO_STAMP_SPOILT;
    const int rc = cco_flat_run(rings, &plan, &q, &r->binding, NULL);
    r->rc = r->rc == MPI_SUCCESS ? rc : r->rc;
}

static void levels_reduce(run *r, cco_slot_ring *rings, cco_coll coll, int root, cco_side in,
                          cco_side out)
{
    levels_flat(r, rings,
                (cco_problem){.coll = coll,
                              .root = root,
                              .bytes = r->q->bytes,
                              .unit = r->q->unit,
                              .in = in,
                              .out = out});
}

static void levels_bcast(run *r, cco_slot_ring *rings, int root, cco_side out)
{
    levels_flat(
        r, rings,
        (cco_problem){
            .coll = CCO_BCAST, .root = root, .bytes = out.each, .unit = r->q->unit, .out = out});
}

/* A byte of each member comes to the leader: all have come. */
static void levels_gather(run *r)
{
    cco_side all = scratch_side(BYTES + 1, 1);
    all.blocks = r->member == 0 ? r->levels->near->size : 0;
    levels_flat(
        r, r->levels->near,
        (cco_problem){
            .coll = CCO_GATHER, .bytes = 1, .unit = 1, .in = scratch_side(BYTES, 1), .out = all});
}

static void run_barrier(run *r)
{
    levels_gather(r);
    if (r->member == 0)
        levels_flat(r, r->levels->far, (cco_problem){.coll = CCO_BARRIER, .unit = 1});
    levels_bcast(r, r->levels->near, 0, scratch_side(BYTES, 1));
}

static void run_bcast(run *r)
{
    const cco_groups *g = r->levels->groups;
    const int root = r->q->root, first = g->group[root];
    if (r->group == first)
        levels_bcast(r, r->levels->near, g->member[root], r->q->out);
    if (r->member == 0)
        levels_bcast(r, r->levels->far, first, r->q->out);
    if (r->group != first)
        levels_bcast(r, r->levels->near, 0, r->q->out);
}

static void run_allreduce(run *r)
{
    const cco_side up = scratch_side(UP, r->q->bytes);
    levels_reduce(r, r->levels->near, CCO_REDUCE, 0, r->q->in, up);
    if (r->member == 0)
        levels_reduce(r, r->levels->far, CCO_ALLREDUCE, 0, up, r->q->out);
    levels_bcast(r, r->levels->near, 0, r->q->out);
}

/* The leader of the root's group has the result, and hands it over. */
static void run_reduce(run *r)
{
    const cco_groups *g = r->levels->groups;
    const cco_side up = scratch_side(UP, r->q->bytes), across = scratch_side(ACROSS, r->q->bytes);
    const int root = r->q->root, last = g->group[root];
    const cco_side result = r->q->rank == root ? r->q->out : across;
    levels_reduce(r, r->levels->near, CCO_REDUCE, 0, r->q->in, up);
    if (r->member == 0)
        levels_reduce(r, r->levels->far, CCO_REDUCE, last, up, result);
    if (r->group == last && g->member[root] != 0)
        levels_bcast(r, r->levels->near, 0, result);
}

int cco_levels_run(cco_levels *l, const cco_problem *q, const cco_binding *binding)
{
    run r = {l, q, *binding, l->groups->group[l->rank], l->groups->member[l->rank], MPI_SUCCESS};
    r.binding.base[CCO_TMP] = l->scratch;
    switch (q->coll) {
    case CCO_BARRIER:
        run_barrier(&r);
        break;
    case CCO_BCAST:
        run_bcast(&r);
        break;
    case CCO_REDUCE:
        run_reduce(&r);
        break;
    default:
        run_allreduce(&r);
    }
    return r.rc;
}
