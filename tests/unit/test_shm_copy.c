/* SPDX-License-Identifier: BSD-3-Clause */
/* test_shm_copy.c - what shm?copy=auto decides by, and how it measures.  Needs no running MPI. */
#define _GNU_SOURCE
#include "model/shm_copy.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/config.h"
#include "testing/testing.h"

enum { RANKS = 3, SLOT = CCO_DISTANCE_BYTES + CCO_SLOT_LINE, SLOTS = 8 };

static const cco_distance near_by = {50, 3000, 5800}, far_off = {125, 6000, 5800},
                          slow_kernel = {125, 6000, 6100}, unknown;

typedef enum place { NEAR, FAR, ANYWHERE } place;

/* The limits, whatever they are now. */
static const struct {
    cco_coll coll;
    int ranks_min, ranks_max;
    place place;
    size_t min, max;
} rows[] = {
#define CCO_COPY(coll, ranks_min, ranks_max, place, min, max)                                      \
    {CCO_##coll, ranks_min, ranks_max, place, min, max},
#include "model/shm_copy.def"
};

/* Where ranks take turns, nobody measures. */
static void within_a_row(int row, const cco_shm_copy_call *call)
{
    const bool far = rows[row].place == FAR;
    const cco_shm_copy_verdict verdict = call->crowded ? CCO_SHM_COPY_YES : CCO_SHM_COPY_MEASURE;
    cco_configured.shm_distance = CCO_DISTANCE_AUTO;
    CHECK(cco_shm_copy_judge(call) == verdict, "row %d", row);
    if (!call->crowded)
        CHECK(cco_shm_copy_pays(call, far ? &far_off : &near_by), "row %d", row);
    CHECK(!cco_shm_copy_pays(call, &unknown), "row %d: not known", row);
    cco_configured.shm_distance = far ? CCO_DISTANCE_FAR : CCO_DISTANCE_NEAR;
    CHECK(cco_shm_copy_judge(call) == CCO_SHM_COPY_YES, "row %d: imposed", row);
}

/* Calls at both ends of the limits for some distance: the kernel copies there, and does not where
 * the distance is not known. */
static void within_the_limits(void)
{
    for (int i = 0; i < LEN(rows); i++) {
        const bool crowded = rows[i].place == ANYWHERE;
        within_a_row(i,
                     &(cco_shm_copy_call){rows[i].coll, rows[i].min, rows[i].ranks_min, crowded});
        within_a_row(i,
                     &(cco_shm_copy_call){rows[i].coll, rows[i].max, rows[i].ranks_max, crowded});
    }
}

static void distances(void)
{
    CHECK(strcmp(cco_shm_copy_distance(&far_off), "far") == 0, "far");
    CHECK(strcmp(cco_shm_copy_distance(&near_by), "near") == 0, "near");
    CHECK(strcmp(cco_shm_copy_distance(&slow_kernel), "near") == 0, "a kernel that is slow");
    CHECK(strcmp(cco_shm_copy_distance(&unknown), "not known") == 0, "not known");
}

/* Whether some row has calls like those of row `i`, but with another load. */
static bool also_otherwise(int i)
{
    const bool crowded = rows[i].place == ANYWHERE;
    for (int k = 0; k < LEN(rows); k++)
        if (rows[k].coll == rows[i].coll && (rows[k].place == ANYWHERE) != crowded)
            return true;
    return false;
}

/* A size for which there is no row, a rank alone, and ranks that take turns on cores where those of
 * the row do not, or the reverse: nobody need measure, whatever is imposed. */
static void beyond_the_limits(void)
{
    for (int i = 0; i < 3 * LEN(rows); i++) {
        const int row = i / 3;
        const bool crowded = rows[row].place == ANYWHERE;
        cco_shm_copy_call call = {rows[row].coll, rows[row].min, rows[row].ranks_min, crowded};
        if (i % 3 == 2 && also_otherwise(row))
            continue;
        call.crowded = crowded != (i % 3 == 2);
        call.ranks = i % 3 == 1 ? 1 : call.ranks;
        call.bytes = i % 3 == 0 ? 1 : call.bytes;
        for (int k = CCO_DISTANCE_AUTO; k <= CCO_DISTANCE_FAR; k++) {
            cco_configured.shm_distance = (cco_shm_distance)k;
            CHECK(cco_shm_copy_judge(&call) == CCO_SHM_COPY_NO, "row %d, %d", row, i % 3);
        }
        CHECK(!cco_shm_copy_pays(&call, &far_off), "row %d", row);
    }
}

/* Where each rank knows its own sizes, the calls of all sizes are judged alike, and each rank looks
 * at its blocks. */
static void own_sizes(void)
{
    for (int i = 0; i < LEN(rows); i++) {
        const bool own = cco_coll_infos[rows[i].coll].properties & CCO_COUNTS;
        const bool crowded = rows[i].place == ANYWHERE;
        cco_shm_copy_call call = {rows[i].coll, 0, rows[i].ranks_min, crowded};
        cco_configured.shm_distance = CCO_DISTANCE_AUTO;
        CHECK((cco_shm_copy_judge(&call) != CCO_SHM_COPY_NO) == own, "row %d", i);
        const size_t least = cco_shm_copy_least(&call);
        CHECK(own ? least > 0 && least <= rows[i].min : least == 0, "row %d: %zu", i, least);
    }
}

/* What the processes below share: the ranks' rings, and who they are. */
typedef struct shared {
    cco_process_id peers[RANKS];
    int ready;
    cco_distance found[RANKS];
    bool passed[RANKS];
} shared;

static void wait_for_all(int *counter)
{
    int tries = 0;
    __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < RANKS)
        cco_pause(&tries);
}

/* One rank: measures twice, and passes data through the ring before, between and after. */
static void measure(shared *common, char *memory, size_t share, int rank)
{
    const size_t ring_share = cco_slot_ring_share(SLOT, SLOTS), at = ring_share;
    cco_slot_ring ring = cco_slot_ring_open(memory, share, SLOT, SLOTS, rank, RANKS, 0);
    cco_pull pull;
    bool passed = cco_pull_open(&pull, memory + at + cco_distance_share(), share, rank, RANKS);
    cco_distance_open(memory + at + (size_t)rank * share);
    common->peers[rank] = cco_process_me();
    wait_for_all(&common->ready);
    memcpy(pull.peers, common->peers, sizeof common->peers);
    ring.pull = &pull;
    for (int i = 0; i < 5; i++) {
        if (i % 2) {
            common->found[rank] = cco_distance_measure(&ring, &pull, memory + at);
            continue;
        }
        cco_slot_ring_begin(&ring, (cco_slot_rounds){0, false});
        memcpy(cco_slot_ring_reserve(&ring, 0, CCO_SLOT_READERS_ALL), &rank, sizeof rank);
        cco_slot_ring_publish(&ring, 0, 0);
        for (int from = 0; from < RANKS; from++)
            passed &= *(const int *)(const void *)cco_slot_ring_read(&ring, from, 0) == from;
        cco_slot_ring_end(&ring);
        cco_slot_ring_wait_for_end(&ring, CCO_SLOT_READERS_ALL);
    }
    common->passed[rank] = passed;
    cco_pull_close(&pull);
}

/* Between processes, however seldom they run at the same time, and also where the kernel does not
 * let one read the other's memory: all that was looked for is found, or nothing. */
static void processes(void)
{
    const size_t share = (cco_slot_ring_share(SLOT, SLOTS) + cco_distance_share() +
                          cco_pull_share() + 4095) /
                         4096 * 4096;
    char *memory = mmap(NULL, RANKS * share + sizeof(shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != MAP_FAILED, "memory"))
        return;
    shared *common = (shared *)(void *)(memory + RANKS * share);
    for (int rank = 1; rank < RANKS; rank++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would answer */
            measure(common, memory, share, rank);
            _exit(0);
        }
    measure(common, memory, share, 0);
    while (wait(NULL) > 0)
        ;
    for (int rank = 0; rank < RANKS; rank++) {
        const cco_distance d = common->found[rank];
        const bool all = d.line > 0 && d.slots > 0 && d.kernel > 0;
        const bool none = d.line == 0 && d.slots == 0 && d.kernel == 0;
        CHECK(common->passed[rank], "rank %d: what went through the ring", rank);
        CHECK(none || (all && rank == RANKS - 1), "rank %d: %u, %u, %u ns", rank, d.line, d.slots,
              d.kernel);
    }
    munmap(memory, RANKS * share + sizeof(shared));
}

int main(void)
{
    testing_watchdog(120);
    distances();
    within_the_limits();
    beyond_the_limits();
    own_sizes();
    processes();
    return testing_end("test_shm_copy");
}
