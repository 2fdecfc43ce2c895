/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flat.c - the collectives on slot rings (transport/shm/flat.h), all ranks in one process
 * (sequence.h).  Boards have few and small slots, so that calls take pieces and rings come round.
 * Some sequences let ranks read each other's memory by a system call, which here brings all, a
 * part, or nothing, at random; some reductions have a kernel.
 *
 *     conformance-flat [SEQUENCES [SEED]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reads.h"
#include "sequence.h"
#include "transport/shm/flat_plan.h"

enum {
    RANKS = 9,
    STACK = 256 << 10,
    RINGS = 2,
    LONG = 300000, /* bytes of a block: more than fits into small caches */
    MANY = 20000,  /* elements: several pieces of two ranks */
};

typedef struct rank {
    cco_slot_ring rings[RINGS];
    cco_pull pull;
} rank;

static rank ranks[RANKS];
static int size; /* ranks */
static size_t rooms[RINGS];
static long many_pieces, two_stages, from_regions, past_caches, all_slots, near_renewal;

#if defined(__x86_64__)
static const bool has_such_stores = true; /* that go past caches */
#else
static const bool has_such_stores = false;
#endif

static bool single; /* whether this sequence has reads of other ranks' memory */

/* Memory of the program that all ranks share. */
enum { REGION = 512 << 10 }; /* bytes of a rank */
static char *region;
static cco_regions regions;

/* Puts this rank's data into the region; false if they are too large. */
static bool move_in(int me, const world *w, cco_binding *binding)
{
    char *at = region + (size_t)me * REGION;
    for (int base = CCO_IN; base <= CCO_OUT; base++) {
        const cco_memory *memory = &w->sim.ranks[me].memory[base];
        if (memory->size > REGION / 2)
            return false;
        memcpy(at, memory->data, memory->size);
        binding->base[base] = at;
        at += REGION / 2;
    }
    from_regions++;
    return true;
}

/* And back; whoever still reads there has not been waited for. */
static void move_out(int me, const world *w, const cco_binding *binding)
{
    const cco_memory *out = &w->sim.ranks[me].memory[CCO_OUT];
    memcpy(out->data, binding->base[CCO_OUT], out->size);
    memset(region + (size_t)me * REGION, WORLD_UNTOUCHED, REGION);
}

static int call(int me, world *w)
{
    cco_binding binding = {.base = {NULL}};
    cco_problem *q = &w->problems[me];
    for (int base = 0; base < CCO_BASES; base++) {
        binding.base[base] = (char *)w->sim.ranks[me].memory[base].data;
        binding.layouts[base] = w->layouts[base];
    }
    if (w->c.seed / 16 % 2 && cco_coll_infos[q->coll].properties & CCO_REDUCTION)
        binding.operation.kernel = sequence_kernel;
    const bool in_region = (unsigned)me % 2 == w->c.seed % 2 && move_in(me, w, &binding);
    const bool crowded = w->c.seed % 3 == 0;
    const cco_flat plan = cco_flat_plan(q, rooms, RINGS, crowded);
    many_pieces += plan.stage[plan.stages - 1].rounds > 2;
    past_caches += plan.stage[plan.stages - 1].past;
    all_slots += !crowded && plan.stage[0].swaps.slots == CCO_SLOT_RING_MOST &&
                 !plan.stage[0].swaps.anew;
    two_stages += plan.stages > 1 && plan.stage[0].rounds + plan.stage[1].rounds > 1;
    const size_t least = (w->c.seed + (unsigned)me) % 4 == 0 ? q->unit * (w->c.seed % 64) : 0;
    const cco_direct_access reach = {&regions, single ? &ranks[me].pull : NULL, least};
    const bool large = plan.stage[plan.stages - 1].ring == RINGS - 1;
    const bool small = plan.stages == 1 && plan.stage[0].small && w->c.seed % 2;
    const int rc = small ? cco_flat_run_small(ranks[me].rings, &plan.stage[0], q, &binding)
                         : cco_flat_run(ranks[me].rings, &plan, q, &binding, large ? &reach : NULL);
    if (in_region)
        move_out(me, w, &binding);
    return rc;
}

/* Ranks that read each other's memory. */
static void open_pulls(char *memory, size_t share)
{
    single = rand() % 2;
    reads.failing = rand() % 2 ? 1 + rand() % 50 : 0;
    for (int k = 0; k < size; k++) {
        cco_pull *pull = &ranks[k].pull;
        cco_pull_close(pull);
        cco_pull_open(pull, memory, share, k, size);
        for (int i = 0; i < size; i++)
            pull->peers[i] = cco_process_me();
        ranks[k].rings[RINGS - 1].pull = single ? pull : NULL;
    }
}

/* Those of a rank that has chosen non-temporal stores for all patterns, or tries both. */
static cco_writes some_writes(void)
{
    enum { NO_OTHER_TAKES = 20 };
    cco_writes w = {.bytes = 0};
    const int some = rand() % 2 ? 0 : CCO_WRITES_PATTERNS * CCO_WRITES_SIZES;
    for (int i = 0; i < some; i++)
        w.sizes[i % CCO_WRITES_PATTERNS][i / CCO_WRITES_PATTERNS] = (cco_writes_size){
            .copies = 1, .taken = NO_OTHER_TAKES, .faster = CCO_WRITE_NONTEMPORAL};
    return w;
}

/* The call that was the last one: often a few before those where numbers are renewed, or wrap. */
static uint64_t some_mark(void)
{
    static const uint64_t renewed[] = {0, (uint64_t)1 << 56, (uint64_t)1 << 63};
    const int some = rand() % 4, calls = rand() % (2 * SEQUENCE_CALLS);
    if (some == 3)
        return (uint64_t)calls << CCO_SLOT_PIECE_BITS;
    near_renewal++;
    return renewed[some] - ((uint64_t)calls << CCO_SLOT_PIECE_BITS);
}

static void make_rings(void)
{
    static char *memory, *abreast;
    unsigned counts[RINGS];
    enum { LARGE = 96 };
    static const size_t scales[] = {1, 12, 48, 48};
    const size_t scale = sequence_cache > 0 ? LARGE : scales[rand() % 4];
    const uint64_t mark = some_mark();
    size_t slots[RINGS], share = 0, before = 0;
    for (int i = 0; i < RINGS; i++) {
        slots[i] = scale * (size_t)(i + 1) * CCO_SLOT_LINE * (size_t)(2 + rand() % 3);
        counts[i] = 2u << rand() % 3;
        rooms[i] = slots[i] - CCO_SLOT_HEAD;
        share += cco_slot_ring_share(slots[i], counts[i]);
    }
    const size_t rings = share;
    share += cco_pull_share();
    free(memory);
    memory = calloc((size_t)size, share);
    free(abreast);
    abreast = calloc((size_t)size, cco_slot_ring_share_abreast(slots[0], counts[0]));
    const bool first_abreast = rand() % 2;
    for (int i = 0; i < RINGS; i++) {
        for (int k = 0; k < size; k++) {
            ranks[k].rings[i] = i == 0 && first_abreast
                                    ? cco_slot_ring_open_abreast(abreast, slots[i], counts[i], k,
                                                                 size, mark)
                                    : cco_slot_ring_open(memory + before, share, slots[i],
                                                         counts[i], k, size, mark);
            cco_slot_ring_close(&ranks[k].rings[i], mark);
            ranks[k].rings[i].writes = some_writes();
        }
        before += cco_slot_ring_share(slots[i], counts[i]);
    }
    open_pulls(memory + rings, share);
}

/* Calls that this rank does not write in may be so many that the number of its last piece seems to
 * lie ahead, and comes again.  Only every 2^32nd is made here. */
static int check_old_numbers(void)
{
    enum { SLOT = 256, SLOTS = 4 };
    const size_t share = cco_slot_ring_share(SLOT, SLOTS);
    const uint64_t step = (uint64_t)1 << CCO_SLOT_PIECE_BITS, renewals = 1 << 8;
    char *memory = calloc(3, share);
    cco_slot_ring b = cco_slot_ring_open(memory, share, SLOT, SLOTS, 1, 3, 0);
    cco_slot_ring_begin_own(&b);
    cco_slot_ring_publish_number(cco_slot_ring_reserve(&b, 0, CCO_SLOT_READERS_ALL), b.call, 0);
    const uint64_t *slot = cco_slot_ring_slot(&b, 1, 0), first = b.call;
    cco_slot_ring_end_own(&b);
    bool fine = *slot == first;
    for (uint64_t i = 1; i <= renewals; i++) {
        b.call = (i << 56) - step;
        b.first = (uint32_t)(b.call >> CCO_SLOT_PIECE_BITS);
        cco_slot_ring_begin_own(&b);
        cco_slot_ring_end_own(&b);
        for (int rank = 0; rank < 3; rank += 2) /* the others end it, too */
            *cco_slot_ring_released(&b, rank) = *cco_slot_ring_released(&b, 1);
        fine = fine && *slot != first && cco_slot_ring_has_room(&b, first / step - b.first);
    }
    fine = fine && b.call == step; /* it has wrapped, and left out 0 */
    free(memory);
    if (!fine)
        printf("old numbers of a slot ring are taken for new ones\n");
    return fine ? 0 : 1;
}

/* Model shm packs what alltoall has in place. */
static bool possible_in_place(cco_coll coll)
{
    return world_in_place(coll) && coll != CCO_ALLTOALL && coll != CCO_ALLTOALLV &&
           coll != CCO_ALLTOALLW;
}

/* Data only move away from a root, or to it, and are not reduced. */
static bool is_one_way(cco_coll coll)
{
    return (cco_coll_infos[coll].properties & (CCO_ROOTED | CCO_REDUCTION)) == CCO_ROOTED;
}

static world_case some_case(void)
{
    static const int elements[] = {0, 1, 2, 7, 30, 31, 32, 33, 100, 400, 3000};
    cco_coll coll;
    do /* slot rings know no neighbours */
        coll = (cco_coll)(rand() % CCO_COLLECTIVES);
    while (cco_is_neighbor(coll));
    const int properties = cco_coll_infos[coll].properties;
    const bool is_long = is_one_way(coll) && sequence_cache > 0 && rand() % 4 == 0;
    const bool differs = properties & CCO_COUNTS && !(properties & (CCO_ROOTED | CCO_REDUCTION));
    const bool in_pieces = differs && size == 2 && rand() % 2;
    const int some = elements[(size_t)rand() % (sizeof elements / sizeof elements[0])];
    return (world_case){.coll = coll,
                        .p = size,
                        .n = is_long     ? LONG
                             : in_pieces ? MANY
                                         : some,
                        .root = properties & CCO_ROOTED ? rand() % size : 0,
                        .shape = (unsigned)rand() % 4,
                        .in_place = possible_in_place(coll) && rand() % 2,
                        .commutative = !(properties & CCO_REDUCTION) || rand() % 2,
                        .seed = 1 + (unsigned)rand() % 1000};
}

static void run_sequence(void)
{
    sequence s = {.calls = SEQUENCE_CALLS, .looks = 1000000, .call = call};
    s.size = size = rand() % 3 ? 1 + rand() % RANKS : 2; /* two ranks swap their slots */
    sequence_cache = rand() % 32 ? 0 : 1 << 20;
    make_rings();
    for (int i = 0; i < s.calls; i++)
        s.cases[i] = some_case();
    sequence_run(&s);
}

int main(int argc, char **argv)
{
    const int sequences = argc > 1 ? atoi(argv[1]) : 4000;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    sequence_failures += check_old_numbers();
    sequence_open(RANKS, STACK);
    region = malloc((size_t)RANKS * REGION);
    regions.list[1].memory = region;
    regions.list[1].share = REGION;
    regions.count = 2;
    for (int i = 0; i < sequences && sequence_failures == 0; i++) {
        srand(seed + (unsigned)i);
        run_sequence();
        if (sequence_failures > 0)
            printf("again: conformance-flat 1 %u\n", seed + (unsigned)i);
    }
    sequence_close();
    free(region);
    printf("%ld calls, %ld times a rank in more than two pieces, %ld over two slot rings,"
           " %ld in shared memory, %ld past the caches, %ld unlike with all slots, %ld reads by the"
           " kernel (%ld in part, %ld not, %ld told), %ld failures\n",
           sequence_runs, many_pieces, two_stages, from_regions, past_caches, all_slots,
           reads.count, reads.partial, reads.failed, sequence_logged, sequence_failures);
    return sequence_failures > 0 || many_pieces == 0 || two_stages == 0 || from_regions == 0 ||
           near_renewal == 0 || (has_such_stores && past_caches == 0) || all_slots == 0 ||
           reads.partial == 0 || reads.failed == 0 || sequence_logged == 0;
}
