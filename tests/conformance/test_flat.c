/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flat.c - the collectives on slot rings (transport/shm/flat.h), all ranks in one process:
 * each a coroutine that gives way to another, by chance, where it would wait.  Boards have few and
 * small slots, so that calls take pieces and rings come round; every rank goes on to the next call
 * when it is through, however far behind the others are.  Some sequences let ranks read each
 * other's memory by a system call, which here brings all, a part, or nothing, by chance.
 *
 *     conformance-flat [SEQUENCES [SEED]] */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "core/log.h"
#include "transport/local/local.h"
#include "transport/shm/flat_plan.h"
#include "world.h"

enum {
    CALLS = 6, /* of a sequence */
    RANKS = 9,
    STACK = 256 << 10,
    RINGS = 2,
    LOOKS = 1000000, /* more than any sequence takes */
};

typedef struct rank {
    ucontext_t context;
    char *stack;
    cco_slot_ring rings[RINGS];
    cco_pull pull;
    int calls; /* begun */
    bool done;
} rank;

static rank ranks[RANKS];
static ucontext_t scheduler;
static int running, size; /* rank, ranks */
static world *worlds[CALLS];
static int entered[CALLS];
static size_t rooms[RINGS];
static long runs, failures, many_pieces, two_stages, from_regions;

/* Reads of other ranks' memory: whether this sequence has them, and of how many one fails, about;
 * then how many there were. */
static bool single;
static int failing;
static long reads, partial, failed, told;

/* Memory of the program that all ranks share. */
enum { REGION = 512 << 10 }; /* bytes of a rank */
static char *region;
static cco_regions regions;

/* What core/pause.c does elsewhere: others run. */
void __wrap_cco_pause(int *tries);
void __wrap_cco_pause(int *tries)
{
    (void)tries;
    swapcontext(&ranks[running].context, &scheduler);
}

bool __wrap_cco_pause_crowds(void);
bool __wrap_cco_pause_crowds(void)
{
    if (rand() % 4 == 0)
        __wrap_cco_pause(NULL);
    return rand() % 2;
}

/* What core/log.c does elsewhere. */
void cco_log(cco_log_level level, const char *format, ...)
{
    (void)level, (void)format;
    told++;
}

/* What the kernel does elsewhere: one in so many reads fails, or finds another process under the
 * number; others stop early. */
ssize_t process_vm_readv(pid_t process, const struct iovec *local, unsigned long locals,
                         const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    static const int errors[] = {EFAULT, EFAULT, EFAULT, EPERM, ESRCH};
    bool other = false;
    ssize_t came = 0;
    (void)process, (void)remotes, (void)flags;
    reads++;
    if (failing > 0 && rand() % failing == 0) {
        failed++;
        other = rand() % 4 == 0;
        errno = errors[(size_t)rand() % (sizeof errors / sizeof errors[0])];
        if (!other)
            return -1;
    }
    for (unsigned long i = 0; i < locals; i++) {
        size_t n = local[i].iov_len;
        if (i > 0 && rand() % 3 == 0) {
            n = (size_t)rand() % (n + (failing == 0)); /* nothing at all is a failure */
            n += failing == 0 && n == 0;
            partial += n < local[i].iov_len;
        }
        memcpy(local[i].iov_base, remote[i].iov_base, n);
        if (other)
            memset(local[i].iov_base, 0x55, n);
        came += (ssize_t)n;
    }
    return came;
}

/* What transport/p2p/local.c does elsewhere, with the operation of the world. */
int cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                   const cco_reduce_op *op)
{
    const world *w = worlds[ranks[running].calls - 1];
    (void)transfer, (void)op;
    for (size_t i = 0; i < into->count; i++)
        w->sim.reduce(from->at + i * w->element, into->at + i * w->element, w->element);
    return MPI_SUCCESS;
}

static void fail(const world *w, const char *what)
{
    failures++;
    printf("FAIL %s p=%d n=%d root=%d shape=%u%s%s: %s %s\n", cco_coll_infos[w->c.coll].name,
           w->c.p, w->c.n, w->c.root, w->c.shape, w->c.in_place ? " in place" : "",
           w->c.commutative ? "" : " not commutative", what, w->sim.why);
}

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

static void call(int me, world *w)
{
    cco_binding binding = {.base = {NULL}};
    cco_problem *q = &w->problems[me];
    for (int base = 0; base < CCO_BASES; base++) {
        binding.base[base] = (char *)w->sim.ranks[me].memory[base].data;
        binding.layouts[base] = w->layouts[base];
    }
    const bool in_region = (unsigned)me % 2 == w->c.seed % 2 && move_in(me, w, &binding);
    const cco_flat plan = cco_flat_plan(q, rooms, RINGS, w->c.seed % 3 == 0);
    many_pieces += plan.stage[plan.stages - 1].rounds > 2;
    two_stages += plan.stages > 1 && plan.stage[0].rounds + plan.stage[1].rounds > 1;
    entered[ranks[me].calls++]++;
    const cco_reach reach = {&regions, single ? &ranks[me].pull : NULL};
    if (cco_flat_run(ranks[me].rings, &plan, q, &binding, &reach) != MPI_SUCCESS)
        fail(w, "error");
    if (in_region)
        move_out(me, w, &binding);
    if (w->c.coll == CCO_BARRIER && entered[ranks[me].calls - 1] < size)
        fail(w, "a rank left before all had come");
}

static void live(int me)
{
    for (int i = 0; i < CALLS; i++)
        call(me, worlds[i]);
    ranks[me].done = true;
}

/* Ranks that read each other's memory. */
static void open_pulls(char *memory, size_t share)
{
    single = rand() % 2;
    failing = rand() % 2 ? 1 + rand() % 50 : 0;
    for (int k = 0; k < size; k++) {
        cco_pull *pull = &ranks[k].pull;
        cco_pull_close(pull);
        cco_pull_open(pull, memory, share, k, size);
        for (int i = 0; i < size; i++)
            pull->peers[i] = cco_pull_me();
        ranks[k].rings[RINGS - 1].pull = single ? pull : NULL;
    }
}

static void make_rings(void)
{
    static char *memory;
    unsigned counts[RINGS];
    const size_t scale = rand() % 2 ? 1 : 12;
    size_t slots[RINGS], share = 0, before = 0;
    for (int i = 0; i < RINGS; i++) {
        slots[i] = scale * (size_t)(i + 1) * CCO_SLOT_LINE * (size_t)(2 + rand() % 3);
        counts[i] = 2u << rand() % 3;
        rooms[i] = cco_slot_room(slots[i]);
        share += cco_slot_ring_share(slots[i], counts[i]);
    }
    const size_t rings = share;
    share += cco_pull_share();
    free(memory);
    memory = calloc((size_t)size, share);
    for (int i = 0; i < RINGS; i++) {
        for (int k = 0; k < size; k++)
            ranks[k].rings[i] = (cco_slot_ring){.memory = memory + before,
                                                .share = share,
                                                .slot = slots[i],
                                                .slots = counts[i],
                                                .rank = k,
                                                .size = size,
                                                .passed_by = CCO_SLOT_READERS_ALL};
        before += cco_slot_ring_share(slots[i], counts[i]);
    }
    open_pulls(memory + rings, share);
}

/* Lets a rank run until it waits; true when it is through. */
__attribute__((noinline)) static bool resume(int rank)
{
    running = rank;
    swapcontext(&scheduler, &ranks[rank].context);
    return ranks[rank].done;
}

static void begin_ranks(void)
{
    for (int i = 0; i < size; i++) {
        getcontext(&ranks[i].context);
        ranks[i].context.uc_stack.ss_sp = ranks[i].stack;
        ranks[i].context.uc_stack.ss_size = STACK;
        ranks[i].context.uc_link = &scheduler;
        ranks[i].calls = 0;
        ranks[i].done = false;
        makecontext(&ranks[i].context, (void (*)(void))live, 1, i);
    }
}

/* Lets ranks run by chance until all are through; false if that never comes. */
static bool run_ranks(void)
{
    int left = size;
    begin_ranks();
    for (int look = 0; left > 0 && look < LOOKS; look++) {
        const int rank = rand() % size;
        if (!ranks[rank].done)
            left -= resume(rank);
    }
    return left == 0;
}

/* Runs in the simulator what some algorithm makes of the case, for world_check wants to know what
 * is written. */
static void mark(world *w)
{
    const cco_algo *algo = NULL;
    for (int i = 0; (algo = cco_algo_of(w->c.coll, i)) != NULL; i++)
        if (!cco_algo_shares(algo, w->c.coll) && algo->refuses(&w->problems[0]) == NULL)
            break;
    for (int i = 0; i < w->c.p; i++) {
        cco_problem *q = &w->problems[i];
        for (int k = 0; k < CCO_PARAMS && algo->params[k].name != NULL; k++)
            q->params[k] = algo->params[k].preset;
        cco_sched *s = cco_sched_new(q);
        algo->build(s, q);
        w->sim.ranks[i].sched = s;
    }
    world_fill(w, w->c.seed);
    if (!cco_sim_run(&w->sim))
        fail(w, "in the simulator:");
}

/* Gives the ranks their data again, and keeps the marks. */
static void refill(world *w)
{
    unsigned char *marks[RANKS];
    for (int i = 0; i < size; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        marks[i] = malloc(out->size + 1);
        memcpy(marks[i], out->written, out->size);
    }
    world_fill(w, w->c.seed);
    for (int i = 0; i < size; i++) {
        const cco_memory *out = &w->sim.ranks[i].memory[CCO_OUT];
        memcpy(out->written, marks[i], out->size);
        free(marks[i]);
    }
}

/* Model shm packs what alltoall has in place. */
static bool possible_in_place(cco_coll coll)
{
    return world_in_place(coll) && coll != CCO_ALLTOALL && coll != CCO_ALLTOALLV &&
           coll != CCO_ALLTOALLW;
}

static world_case some_case(void)
{
    static const int elements[] = {0, 1, 2, 7, 30, 31, 32, 33, 100, 400, 3000};
    const cco_coll coll = (cco_coll)(rand() % CCO_COLLECTIVES);
    const int properties = cco_coll_infos[coll].properties;
    return (world_case){.coll = coll,
                        .p = size,
                        .n = elements[(size_t)rand() % (sizeof elements / sizeof elements[0])],
                        .root = properties & CCO_ROOTED ? rand() % size : 0,
                        .shape = (unsigned)rand() % 4,
                        .in_place = possible_in_place(coll) && rand() % 2,
                        .commutative = !(properties & CCO_REDUCTION) || rand() % 2,
                        .seed = 1 + (unsigned)rand() % 1000};
}

static void run_sequence(void)
{
    size = 1 + rand() % RANKS;
    make_rings();
    for (int i = 0; i < CALLS; i++) {
        const world_case c = some_case();
        worlds[i] = world_new(&c);
        entered[i] = 0;
        mark(worlds[i]);
        refill(worlds[i]);
    }
    if (!run_ranks())
        fail(worlds[0], "this call or one after it has no end");
    for (int i = 0; i < CALLS; i++) {
        if (!world_check(worlds[i]))
            fail(worlds[i], "");
        for (int k = 0; k < size; k++)
            cco_sched_free((cco_sched *)(uintptr_t)worlds[i]->sim.ranks[k].sched);
        world_free(worlds[i]);
        runs++;
    }
}

int main(int argc, char **argv)
{
    const int sequences = argc > 1 ? atoi(argv[1]) : 4000;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    for (int i = 0; i < RANKS; i++)
        ranks[i].stack = malloc(STACK);
    region = malloc((size_t)RANKS * REGION);
    regions.list[1].memory = region;
    regions.list[1].share = REGION;
    regions.count = 2;
    for (int i = 0; i < sequences && failures == 0; i++) {
        srand(seed + (unsigned)i);
        run_sequence();
        if (failures > 0)
            printf("again: conformance-flat 1 %u\n", seed + (unsigned)i);
    }
    for (int i = 0; i < RANKS; i++)
        free(ranks[i].stack);
    free(region);
    printf("%ld calls, %ld times a rank in more than two pieces, %ld over two slot rings,"
           " %ld in shared memory, %ld reads by the kernel (%ld in part, %ld not, %ld told),"
           " %ld failures\n",
           runs, many_pieces, two_stages, from_regions, reads, partial, failed, told, failures);
    return failures > 0 || many_pieces == 0 || two_stages == 0 || from_regions == 0 ||
           partial == 0 || failed == 0 || told == 0;
}
