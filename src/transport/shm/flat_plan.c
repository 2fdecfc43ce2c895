/* SPDX-License-Identifier: BSD-3-Clause */
/* flat_plan.c - cco_flat_plan: which slot ring a call takes, and in how many pieces. */
#include "transport/shm/flat_plan.h"

#include "base/core_place.h"

/* Whether each reader reads something else: the slot has a stream for each, but none for the
 * writer.
 */
static bool slot_per_reader(cco_coll coll)
{
    return cco_coll_infos[coll].in & CCO_EACH;
}

static size_t flat_plan_most_of(const cco_problem *q, const cco_side *side, bool own)
{
    size_t most = 0;
    for (int i = 0; i < (side->n != NULL ? side->blocks : side->blocks > 0); i++) {
        const size_t n = side->n != NULL ? side->n[i] : side->each;
        if (n > most && (own || i != q->rank))
            most = n;
    }
    return most;
}

static size_t flat_plan_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The largest block that this rank gives to others, where sizes are its own affair. */
static size_t flat_plan_given(const cco_problem *q)
{
    const bool root = q->rank == q->root;
    if (q->coll == CCO_GATHERV)
        return root ? 0 : q->in.each;
    if (q->coll == CCO_ALLGATHERV)
        return q->in.each;
    return q->coll == CCO_SCATTERV && !root ? 0 : flat_plan_most_of(q, &q->in, false);
}

static size_t flat_plan_taken(const cco_problem *q)
{
    const bool root = q->rank == q->root;
    if (q->coll == CCO_SCATTERV)
        return root ? 0 : q->out.each;
    return q->coll == CCO_GATHERV && !root ? 0 : flat_plan_most_of(q, &q->out, false);
}

/* The largest block, or the vector, where all ranks know it: two know all that passes. */
static size_t flat_plan_common(const cco_problem *q)
{
    const int properties = cco_coll_infos[q->coll].properties;
    if (!(properties & CCO_COUNTS))
        return q->bytes;
    if (properties & CCO_REDUCTION)
        return flat_plan_most_of(q, &q->in, true);
    if (properties & CCO_GATHERS && !(properties & CCO_ROOTED))
        return flat_plan_most_of(q, &q->out, true);
    return q->size == 2 ? flat_plan_larger(flat_plan_given(q), flat_plan_taken(q)) : SIZE_MAX;
}

/* Bytes of the least number of elements that fill lines. */
static size_t lines_of(size_t unit)
{
    if (unit % CCO_SLOT_LINE == 0 || CCO_SLOT_LINE % unit == 0)
        return unit > CCO_SLOT_LINE ? unit : CCO_SLOT_LINE;
    return unit * CCO_SLOT_LINE;
}

/* Pieces end at elements, and at lines where that leaves anything. */
static size_t whole_lines(size_t room, size_t unit)
{
    const size_t lines = lines_of(unit);
    return room >= lines ? room / lines * lines : room / unit * unit;
}

static bool one_way(const cco_problem *q)
{
    return cco_coll_infos[q->coll].properties & CCO_ROOTED || q->coll == CCO_SCAN ||
           q->coll == CCO_EXSCAN;
}

static cco_writes_use use_of(const cco_problem *q, bool crowded)
{
    const bool from_root = q->coll == CCO_BCAST || cco_coll_infos[q->coll].in & CCO_AT_ROOT;
    if (from_root)
        return CCO_WRITES_ONE_WAY;
    if (q->size == 2 && one_way(q))
        return cco_coll_infos[q->coll].properties & CCO_ROOTED ? CCO_WRITES_TO_ONE
                                                               : CCO_WRITES_ONE_WAY;
    return crowded && q->size > 2 && slot_per_reader(q->coll) ? CCO_WRITES_IN_TURN
                                                              : CCO_WRITES_AT_ONCE;
}

enum { WORTH_TWO = 2 << 10, PIECE = 16 << 10 }; /* bytes */

/* Whether what one of two ranks gives the other goes in two pieces, over the last ring. */
static bool goes_in_two(const cco_problem *q, size_t most, bool crowded)
{
    return q->size == 2 && !crowded && one_way(q) && most > WORTH_TWO && most < 2 * PIECE &&
           most >= 2 * q->unit;
}

/* In calls with one direction the reader works on a piece when the next is written, if it has a
 * core of its own: the first piece is what it waits for.  Where all write and read at once, larger
 * pieces are better. */
static size_t window_of(const cco_problem *q, size_t most, size_t window)
{
    enum { PARTS = 8 };
    const size_t least = goes_in_two(q, most, false) ? most / 2 : PIECE;
    const size_t wanted = most / PARTS > least ? most / PARTS : least, lines = lines_of(q->unit);
    const size_t up = wanted + (lines <= wanted ? lines : q->unit) - 1; /* no piece is left over */
    return one_way(q) && up < window ? whole_lines(up, q->unit) : window;
}

/* Pieces of a block. */
static uint64_t flat_plan_pieces(const cco_stage *s, size_t n)
{
    const size_t left = n > s->before ? n - s->before : 0;
    return (left + s->window - 1) / s->window;
}

/* Whether two ranks may give each other more than they get. */
static bool may_differ(const cco_problem *q)
{
    const int properties = cco_coll_infos[q->coll].properties;
    return q->size == 2 && properties & CCO_COUNTS && !(properties & CCO_REDUCTION) && !one_way(q);
}

/* Pieces that only one of two ranks has to write, the same on both. */
static uint64_t flat_plan_unmatched(const cco_stage *s, const cco_problem *q)
{
    if (!may_differ(q))
        return 0;
    const uint64_t give = flat_plan_pieces(s, flat_plan_given(q)),
                   take = flat_plan_pieces(s, flat_plan_taken(q));
    return give > take ? give - take : take - give;
}

/* How two ranks swap slots.  Where both write, few slots stay in their caches, and a call writes
 * what the one before has read.  In calls with one direction each piece has a slot of its own: it
 * pays if the next one goes the other way.  What goes there in one piece keeps its slots, so that a
 * rank can be ahead.  Ranks that take turns on a core use the whole ring in each turn, and so does
 * one that has more to write than the other: of few slots, it would write those that were just
 * read. */
static cco_slot_rounds swaps_of(const cco_stage *s, const cco_problem *q, size_t room, bool large,
                                bool crowded)
{
    enum { FEW = 2, LEAST = 512 };
    if (q->size != 2 || room < LEAST)
        return (cco_slot_rounds){0, false};
    if (one_way(q))
        return (cco_slot_rounds){large && s->rounds > 1 ? CCO_SLOT_RING_MOST : 0, true};
    const bool all = crowded || flat_plan_unmatched(s, q) >= FEW;
    return (cco_slot_rounds){all ? CCO_SLOT_RING_MOST : FEW, false};
}

static size_t flat_plan_bytes_of(const cco_side *side)
{
    size_t bytes = 0;
    for (int i = 0; i < side->blocks; i++)
        bytes += side->n != NULL ? side->n[i] : side->each;
    return bytes;
}

/* Bytes that a call reads and writes in the memory of as many ranks as have cores that share a
 * cache, about: what others have is like what this rank has. */
static size_t flat_plan_touches(const cco_problem *q, int cores)
{
    const size_t in = flat_plan_bytes_of(&q->in), out = flat_plan_bytes_of(&q->out),
                 size = (size_t)q->size, sharing = cores < q->size ? (size_t)cores : size;
    if (!(cco_coll_infos[q->coll].properties & CCO_ROOTED))
        return sharing * (in + out);
    if (q->coll == CCO_BCAST)
        return sharing * out;
    const size_t all = q->rank == q->root ? flat_plan_larger(in, out)
                                          : size * flat_plan_larger(in, out);
    return all + sharing * (all / size);
}

/* Whether what moves fills the last cache.  An ordinary store first fetches its line from memory
 * then, and the data that the caches have are lost for it.  Each rank's own affair. */
static bool flat_plan_past(const cco_problem *q, const cco_stage *s)
{
#if defined(__x86_64__)
    enum { LEAST = 1 << 20, PIECE_LEAST = 16 << 10 }; /* bytes: no cache to look for is smaller */
    if (!s->direct || s->window < PIECE_LEAST || flat_plan_touches(q, q->size) < LEAST ||
        cco_coll_infos[q->coll].properties & CCO_REDUCTION)
        return false;
    const cco_last_cache last = cco_last_cache_here();
    return flat_plan_touches(q, last.cores) >= last.bytes;
#else
    (void)q, (void)s, (void)flat_plan_touches;
    return false; /* cco_copy_nontemporal is nothing else there */
#endif
}

/* Calls of other collectives and, by powers of two, other sizes write other parts of a ring. */
static uint32_t pattern_of(const cco_problem *q, size_t most)
{
    const uint32_t power = most > 0 ? 64 - (uint32_t)__builtin_clzll(most) : 0;
    return (power * CCO_COLLECTIVES + q->coll) * UINT32_C(2654435769) >> 8;
}

/* A stamp of the sizes that two ranks give each other, in one order on both. */
static size_t sizes_of_two(const cco_problem *q)
{
    const size_t give = flat_plan_given(q), take = flat_plan_taken(q);
    return q->rank == 0 ? cco_stamp_sizes(cco_stamp_sizes(0, give), take)
                        : cco_stamp_sizes(cco_stamp_sizes(0, take), give);
}

/* A stamp of what ranks must have alike of blocks of unlike sizes: all sizes, or those of two. */
static size_t sizes_of(const cco_problem *q)
{
    const cco_side *side = q->coll == CCO_REDUCE_SCATTER ? &q->in : &q->out;
    size_t sizes = 0;
    if (q->coll != CCO_REDUCE_SCATTER && q->coll != CCO_ALLGATHERV)
        return q->size == 2 ? sizes_of_two(q) : 0;
    for (int i = 0; i < q->size; i++)
        sizes = cco_stamp_sizes(sizes, side->n != NULL ? side->n[i] : side->each);
    return sizes;
}

/* What slots say of the call. */
static void put_stamp(cco_stage *s, const cco_problem *q)
{
    const int properties = cco_coll_infos[q->coll].properties;
    const bool counts = properties & CCO_COUNTS;
    s->stamp = cco_stamp(q->coll, q->root, counts ? sizes_of(q) : q->bytes);
    s->says = counts && !(properties & CCO_REDUCTION) && s->head == 0 &&
              (!s->per_reader || q->size == 2);
    s->base = s->says ? cco_stamp(q->coll, q->root, 0) : s->stamp;
    s->word = s->base + (s->says ? cco_stamp_bytes(flat_plan_given(q)) : 0);
}

enum { HEAD = sizeof(uint64_t) }; /* bytes that say how long a lane is */

/* Most blocks are small, and no rank knows of all. The first piece of each goes over a slot ring
 * with many slots, from which nobody waits for anybody; the rest over the last. */
static cco_flat flat_plan_uneven(const cco_problem *q, const size_t *rooms, int n,
                                 size_t per_reader, bool crowded)
{
    cco_flat f = {.stages = n > 1 ? 2 : 1};
    size_t before = 0;
    for (int i = 0; i < f.stages; i++) {
        cco_stage *s = &f.stage[i];
        const int ring = n - f.stages + i;
        const size_t lane = rooms[ring] / per_reader;
        const bool headed = i == 0 && slot_per_reader(q->coll) && lane > 2 * HEAD;
        *s = (cco_stage){.ring = ring,
                         .before = before,
                         .window = whole_lines(headed ? lane - HEAD : lane, q->unit),
                         .per_reader = slot_per_reader(q->coll),
                         .head = headed ? HEAD : 0,
                         .direct = ring == n - 1,
                         .pattern = pattern_of(q, 0),
                         .use = use_of(q, crowded),
                         .alone = UINT64_MAX};
        s->gives = flat_plan_pieces(s, flat_plan_given(q));
        s->rounds = flat_plan_pieces(s, flat_plan_larger(flat_plan_given(q), flat_plan_taken(q)));
        s->past = s->rounds > 0 &&
                  flat_plan_past(q, s); /* small data have none over the last ring */
        put_stamp(s, q);
        before += s->window;
    }
    cco_stage *first = &f.stage[0];
    first->last = f.stages == 1 || first->rounds <= 1;
    f.stage[1].last = !first->last;
    if (f.stages > 1) {
        first->small = first->last;
        first->gives = first->gives > 0;
        first->rounds = first->rounds > 0;
    }
    return f;
}

static uint64_t flat_plan_gives(const cco_stage *s, const cco_problem *q)
{
    const cco_coll_info *info = &cco_coll_infos[q->coll];
    const bool root = q->rank == q->root, root_reads = info->out & CCO_AT_ROOT;
    if (info->properties & CCO_ROOTED)
        return root == root_reads ? 0 : s->rounds;
    if (q->coll == CCO_SCAN || q->coll == CCO_EXSCAN)
        return q->rank < q->size - 1 ? s->rounds : 0;
    return info->properties & CCO_GATHERS ? flat_plan_pieces(s, q->in.each) : s->rounds;
}

/* Whether shares are worth a second exchange: without them every rank, or the root, reads what all
 * show. */
static bool flat_plan_shares(const cco_problem *q)
{
    enum { WORTH = 32 << 10 }; /* bytes not read */
    return (q->coll == CCO_ALLREDUCE || q->coll == CCO_REDUCE) && q->size > 2 &&
           q->bytes >= WORTH / (size_t)(q->size - 2);
}

/* In shares of what lies where it is, each share fills a slot with its result.  Shares pay for two
 * ranks too, since no operand is read twice. */
static size_t flat_plan_wide(const cco_problem *q, size_t room, bool in_shares)
{
    const size_t line = q->unit * CCO_SLOT_LINE;
    if ((!in_shares && q->coll != CCO_ALLREDUCE) || q->size < 2 || room <= line)
        return 0;
    return whole_lines((size_t)q->size * (room - line), q->unit);
}

/* From which piece on only one of two ranks has something to write, as far as this one gives: the
 * other then reads, as in calls with one direction. */
static uint64_t flat_plan_alone(const cco_stage *s, const cco_problem *q)
{
    return may_differ(q) ? flat_plan_pieces(s, flat_plan_taken(q)) : UINT64_MAX;
}

static cco_stage flat_plan_even(const cco_problem *q, const size_t *rooms, int n, size_t per_reader,
                                size_t most, bool crowded)
{
    cco_stage s = {.ring = n - 1,
                   .window = whole_lines(rooms[n - 1] / per_reader, q->unit),
                   .per_reader = slot_per_reader(q->coll),
                   .last = true};
    const int least = goes_in_two(q, most, crowded) ? n - 1 : 0;
    for (int i = n - 1; i >= least && most <= rooms[i] / per_reader; i--) {
        s.ring = i;
        s.window = most > 0 ? most : 1;
    }
    if (s.ring == n - 1 && !crowded)
        s.window = window_of(q, most, s.window);
    s.rounds = flat_plan_pieces(&s, most);
    s.shares = flat_plan_shares(q);
    s.swaps = swaps_of(&s, q, rooms[s.ring], s.ring == n - 1, crowded);
    s.pieces = s.swaps.anew ? 0 : s.rounds;
    s.pattern = pattern_of(q, most);
    s.use = s.shares ? CCO_WRITES_AT_ONCE : use_of(q, crowded);
    s.gives = s.shares ? s.rounds : flat_plan_gives(&s, q);
    s.alone = flat_plan_alone(&s, q);
    s.small = s.rounds == 1 && !s.shares && s.ring < n - 1;
    s.direct = n < 2 || most > rooms[n - 2] / per_reader;
    s.past = flat_plan_past(q, &s);
    s.wide = s.direct && !s.small ? flat_plan_wide(q, rooms[n - 1], s.shares) : 0;
    s.count = q->out.each / q->unit;
    s.shown = q->size > 1 && most < CCO_WRITES_LEAST && s.swaps.slots == 0;
    put_stamp(&s, q);
    return s;
}

/* Streams that a slot has. */
static size_t flat_plan_readers(const cco_problem *q)
{
    return slot_per_reader(q->coll) && q->size > 1 ? (size_t)q->size - 1 : 1;
}

bool cco_flat_fits(const cco_problem *q, const size_t *rooms, int n)
{
    return q->unit <= CCO_FLAT_UNIT && q->unit <= rooms[n - 1] / flat_plan_readers(q);
}

static cco_stage flat_plan_barrier(const cco_problem *q)
{
    cco_stage s = {.window = 1, .gives = 1, .rounds = 1, .small = true, .last = true};
    put_stamp(&s, q);
    return s;
}

cco_flat cco_flat_plan(const cco_problem *q, const size_t *rooms, int n, bool crowded)
{
    const size_t per_reader = flat_plan_readers(q);
    const size_t most = flat_plan_common(q);
    if (q->coll == CCO_BARRIER)
        return (cco_flat){1, {flat_plan_barrier(q)}};
    if (most == SIZE_MAX)
        return flat_plan_uneven(q, rooms, n, per_reader, crowded);
    return (cco_flat){1, {flat_plan_even(q, rooms, n, per_reader, most, crowded)}};
}
