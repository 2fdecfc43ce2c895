/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - cco_flat_plan: which board a call takes, and in how many pieces. */
#include "transport/shm/flat.h"

/* Whether each reader reads something else: the slot has a lane for each, but none for the writer.
 */
static bool has_lanes(cco_coll coll)
{
    switch (coll) {
    case CCO_SCATTER:
    case CCO_SCATTERV:
    case CCO_ALLTOALL:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
    case CCO_REDUCE_SCATTER:
    case CCO_REDUCE_SCATTER_BLOCK:
        return true;
    default:
        return false;
    }
}

static size_t most_of(const cco_problem *q, const cco_side *side, bool own)
{
    size_t most = 0;
    for (int i = 0; i < (side->n != NULL ? side->blocks : side->blocks > 0); i++) {
        const size_t n = side->n != NULL ? side->n[i] : side->each;
        if (n > most && (own || i != q->rank))
            most = n;
    }
    return most;
}

/* The largest block, or the vector, where all ranks know it. */
static size_t common(const cco_problem *q)
{
    switch (q->coll) {
    case CCO_ALLGATHERV:
        return most_of(q, &q->out, true);
    case CCO_REDUCE_SCATTER:
        return most_of(q, &q->in, true);
    case CCO_GATHERV:
    case CCO_SCATTERV:
    case CCO_ALLTOALLV:
    case CCO_ALLTOALLW:
        return SIZE_MAX;
    default:
        return q->bytes;
    }
}

/* Pieces end at elements, and at lines where that leaves anything. */
static size_t whole_lines(size_t room, size_t unit)
{
    const size_t lines = unit % CCO_BOARD_LINE == 0 || CCO_BOARD_LINE % unit == 0
                             ? (unit > CCO_BOARD_LINE ? unit : CCO_BOARD_LINE)
                             : unit * CCO_BOARD_LINE;
    return room >= lines ? room / lines * lines : room / unit * unit;
}

/* In calls with one direction the reader works on a piece when the next is written: the first piece
 * is what it waits for.  Where all write and read at once, larger pieces are better. */
static size_t one_way(const cco_problem *q, size_t most, size_t window)
{
    enum { LEAST = 16 << 10, PARTS = 8 };
    const int properties = cco_coll_infos[q->coll].properties;
    const bool is = properties & CCO_ROOTED || q->coll == CCO_SCAN || q->coll == CCO_EXSCAN;
    const size_t wanted = most / PARTS > LEAST ? most / PARTS : LEAST;
    return is && wanted < window ? whole_lines(wanted, q->unit) : window;
}

static uint64_t pieces(const cco_flat *f, size_t n)
{
    return (n + f->window - 1) / f->window;
}

/* What this rank shows, and how long it takes part, where sizes are its own affair. */
static void plan_uneven(cco_flat *f, const cco_problem *q)
{
    const bool root = q->rank == q->root;
    const uint64_t sent = pieces(f, most_of(q, &q->in, false));
    const uint64_t received = pieces(f, most_of(q, &q->out, false));
    switch (q->coll) {
    case CCO_GATHERV:
        f->gives = root ? 0 : pieces(f, q->in.each);
        f->rounds = root ? received : f->gives;
        break;
    case CCO_SCATTERV:
        f->gives = root ? sent : 0;
        f->rounds = root ? sent : pieces(f, q->out.each);
        break;
    default:
        f->gives = sent;
        f->rounds = sent > received ? sent : received;
    }
}

static uint64_t gives(const cco_flat *f, const cco_problem *q)
{
    switch (q->coll) {
    case CCO_BCAST:
    case CCO_SCATTER:
        return q->rank == q->root ? f->rounds : 0;
    case CCO_GATHER:
    case CCO_REDUCE:
        return q->rank != q->root ? f->rounds : 0;
    case CCO_SCAN:
    case CCO_EXSCAN:
        return q->rank < q->size - 1 ? f->rounds : 0;
    case CCO_ALLGATHERV:
        return pieces(f, q->in.each);
    default:
        return f->rounds;
    }
}

/* Whether shares are worth a second exchange: without them every rank, or the root, reads what all
 * show. */
static bool shares(const cco_problem *q)
{
    enum { WORTH = 32 << 10 }; /* bytes not read */
    return (q->coll == CCO_ALLREDUCE || q->coll == CCO_REDUCE) && q->size > 2 &&
           q->bytes >= WORTH / (size_t)(q->size - 2);
}

cco_flat cco_flat_plan(const cco_problem *q, const size_t *rooms, int n)
{
    const bool has = has_lanes(q->coll);
    const size_t lanes = has && q->size > 1 ? (size_t)q->size - 1 : 1;
    const size_t most = common(q);
    cco_flat f = {
        .board = n - 1, .window = whole_lines(rooms[n - 1] / lanes, q->unit), .lanes = has};
    if (q->coll == CCO_BARRIER)
        return (cco_flat){.window = 1, .gives = 1, .rounds = 1, .once = true};
    for (int i = n - 1; i >= 0 && most <= rooms[i] / lanes; i--) {
        f.board = i;
        f.window = most > 0 ? most : 1;
    }
    if (most == SIZE_MAX) {
        plan_uneven(&f, q);
        return f;
    }
    if (f.board == n - 1)
        f.window = one_way(q, most, f.window);
    f.rounds = pieces(&f, most);
    f.shares = shares(q);
    f.gives = f.shares ? f.rounds : gives(&f, q);
    f.once = f.rounds == 1 && !f.shares && f.board < n - 1;
    f.count = q->out.each / q->unit;
    return f;
}
