/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_area.c - coarrays as memory of other ranks (src/transport/caf/caf.h), without anything on it.
 *
 *     caf_area [THREAD LEVEL]
 *
 * Every rank writes to, reads from and tells every rank of WORLD, of parts of it, of several
 * communicators at once; the slices of freed communicators come back, never with a late word. */
#include "transport/caf/caf.h"

#include "base/pause.h"
#include "mpi/service.h"
#include "testing/testing.h"

enum { SHARE = 40000, MANY = 400, LATE = 50 };

static int world_rank, world_size;

static unsigned char byte_of(int from, int to, int round, size_t i)
{
    return (unsigned char)(31 * from + 7 * to + 101 * round + (int)(i % 251));
}

/* Waits for a word of this rank's share. */
static void await(cco_caf *caf, size_t at, uint32_t word)
{
    const uint32_t *here = (const uint32_t *)(const void *)(caf->area.share + at);
    for (int tries = 0;;) {
        caf->area.kind->look(&caf->area);
        if (__atomic_load_n(here, __ATOMIC_ACQUIRE) == word)
            return;
        cco_pause(&tries);
    }
}

/* Each rank has, in the share of each other, a word and then a place for its bytes. */
static size_t word_for(const cco_caf *caf, int from)
{
    return (size_t)from * (SHARE / (size_t)caf->area.size / 64 * 64);
}

static void exchange(cco_caf *caf, int round, size_t n, size_t odd)
{
    cco_area *area = &caf->area;
    const int me = area->rank;
    unsigned char *data = malloc(n + 1);
    for (int i = 0; i < area->size; i++) {
        const int peer = (me + i) % area->size;
        for (size_t k = 0; k < n; k++)
            data[k] = byte_of(me, peer, round, k);
        area->kind->put(area, peer, word_for(caf, me) + 4 + odd, data, n);
        area->kind->complete(area, peer);
        area->kind->tell(area, peer, word_for(caf, me), (uint32_t)round);
    }
    for (int peer = 0; peer < area->size; peer++) {
        long wrong = 0;
        await(caf, word_for(caf, peer), (uint32_t)round);
        for (size_t k = 0; k < n; k++)
            wrong += (unsigned char)area->share[word_for(caf, peer) + 4 + odd + k] !=
                     byte_of(peer, me, round, k);
        CHECK(wrong == 0, "%ld of %zu bytes from %d at odd %zu", wrong, n, peer, odd);
        memset(data, 0, n + 1);
        area->kind->get(area, peer, word_for(caf, me) + 4 + odd, data, n);
        area->kind->complete(area, peer);
        for (size_t k = wrong = 0; k < n; k++)
            wrong += data[k] != byte_of(me, peer, round, k);
        CHECK(wrong == 0 && data[n] == 0, "%ld of %zu bytes got back from %d", wrong, n, peer);
    }
    free(data);
    cco_service_all(true, caf->area.comm); /* the next round overwrites */
}

static void exchanges(cco_caf *caf, int round)
{
    const size_t most = word_for(caf, 1) - 64;
    const size_t sizes[] = {0, 1, 3, 8, 777, most};
    for (int i = 0; i < LEN(sizes); i++)
        for (size_t odd = 0; odd < 4; odd++)
            exchange(caf, round * 100 + i * 4 + (int)odd + 1, sizes[i], odd);
}

static int keep(cco_caf *caf, MPI_Comm comm)
{
    const char *why = cco_caf_keep(caf, SHARE, SHARE, SHARE, comm);
    long zero = 0;
    if (!CHECK(why == NULL, "%s", why))
        return 0;
    for (size_t i = 0; i < SHARE; i++)
        zero += caf->area.share[i] == 0;
    CHECK(zero == SHARE, "%ld of %d bytes are zero", zero, SHARE);
    CHECK(caf->area.bytes >= SHARE && (uintptr_t)caf->area.share % 64 == 0, "share");
    cco_service_all(true, comm);
    return 1;
}

static void test_world(void)
{
    cco_caf caf;
    snprintf(testing_label, sizeof testing_label, "world");
    if (keep(&caf, MPI_COMM_WORLD))
        exchanges(&caf, 1);
    cco_caf_free(&caf);
}

/* Halves, ranks in reverse, each rank alone: all at once. */
static void test_parts(void)
{
    enum { PARTS = 4 };
    const int colors[PARTS] = {world_rank % 2, world_rank / 2, 0, world_rank};
    MPI_Comm comms[PARTS];
    cco_caf areas[PARTS];
    int made = 0;
    for (int i = 0; i < PARTS; i++) {
        snprintf(testing_label, sizeof testing_label, "part %d", i);
        MPI_Comm_split(MPI_COMM_WORLD, colors[i], -world_rank, &comms[i]);
        made += keep(&areas[i], comms[i]);
    }
    for (int round = 1; made == PARTS && round <= 2; round++)
        for (int i = 0; i < PARTS; i++)
            exchanges(&areas[(i + round) % PARTS], round);
    for (int i = 0; i < PARTS; i++) {
        MPI_Comm_free(&comms[i]);
        cco_caf_free(&areas[i]);
    }
}

/* The last rank writes to all, long after the others have freed the area and taken another without
 * it. */
static void be_late(cco_caf *caf)
{
    usleep(300);
    for (int peer = 0; peer < caf->area.size; peer++)
        for (size_t at = 0; at < SHARE; at += SHARE / 8)
            caf->area.kind->tell(&caf->area, peer, at, 1);
    cco_caf_free(caf);
}

static void be_early(cco_caf *caf, MPI_Comm others)
{
    long zero = 0;
    cco_caf_free(caf);
    if (!keep(caf, others))
        return;
    usleep(600);
    caf->area.kind->look(&caf->area);
    for (size_t i = 0; i < SHARE; i++)
        zero += caf->area.share[i] == 0;
    CHECK(zero == SHARE, "%ld words of a communicator that is no more", SHARE - zero);
    cco_caf_free(caf);
}

/* No word of a communicator may turn up in the next. */
static void test_late(void)
{
    MPI_Comm others;
    cco_caf caf;
    snprintf(testing_label, sizeof testing_label, "late words");
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == world_size - 1, 0, &others);
    for (int i = 0; i < LATE && keep(&caf, MPI_COMM_WORLD); i++)
        if (world_rank == world_size - 1)
            be_late(&caf);
        else
            be_early(&caf, others);
    MPI_Comm_free(&others);
}

/* A communicator comes and goes: its slice comes back. */
static void test_many(void)
{
    cco_caf caf;
    snprintf(testing_label, sizeof testing_label, "many");
    for (int i = 0; i < MANY && keep(&caf, MPI_COMM_WORLD); i++)
        cco_caf_free(&caf);
}

/* Areas are taken until there is no room; all ranks know. */
static void test_room(void)
{
    static cco_caf areas[MANY];
    int n[2] = {0, 0}, most, least;
    snprintf(testing_label, sizeof testing_label, "room");
    for (int round = 0; round < 2; round++) {
        while (n[round] < MANY &&
               cco_caf_keep(&areas[n[round]], 1, SIZE_MAX / 2, 0, MPI_COMM_WORLD) == NULL)
            n[round]++;
        for (int i = 0; i < n[round]; i++)
            cco_caf_free(&areas[i]);
        cco_service_all(true, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&n[1], &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&n[1], &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    CHECK(n[0] == n[1] && most == least, "%d areas, then %d; %d to %d", n[0], n[1], least, most);
    CHECK(world_size == 1 || (n[0] > 30 && n[0] < MANY), "%d areas", n[0]);
}

static void test_made(int level)
{
    MPI_Comm part, back;
    cco_caf caf;
    snprintf(testing_label, sizeof testing_label, "for a call");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &back);
    for (int round = 1; round <= 3; round++) {
        const char *why = cco_caf_make(&caf, SHARE, SHARE, round == 2 ? back : MPI_COMM_WORLD);
        if (world_size > 1 && level == MPI_THREAD_MULTIPLE)
            CHECK(why != NULL, "threads might allocate at once");
        else if (CHECK(why == NULL, "%s", why))
            exchanges(&caf, round);
        if (why == NULL)
            cco_caf_free(&caf);
    }
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, world_rank, &part);
    if (world_size > 2 && world_rank > 0)
        CHECK(cco_caf_make(&caf, SHARE, SHARE, part) != NULL, "not all images");
    MPI_Comm_free(&part);
    MPI_Comm_free(&back);
}

/* Before coarrays begin, a part of the ranks cannot have them. */
static void test_early(void)
{
    MPI_Comm part;
    cco_caf caf;
    snprintf(testing_label, sizeof testing_label, "early");
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    const char *why = cco_caf_keep(&caf, SHARE, SHARE, SHARE, part);
    CHECK((why == NULL) == (world_size < 3 || (world_size == 3 && world_rank == 1)), "%s",
          why != NULL ? why : "there was one");
    if (why == NULL)
        cco_caf_free(&caf);
    MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    int level = argc > 1 ? atoi(argv[1]) : MPI_THREAD_SINGLE, one = 1, sum = 0;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    testing_rank = world_rank;
    testing_watchdog(100);
    test_early();
    const char *why = world_size > 1 ? cco_caf_begin(MPI_COMM_WORLD) : NULL;
    if (CHECK(why == NULL, "%s", why)) {
        test_world();
        test_parts();
        test_late();
        test_many();
        test_room();
        test_made(level);
        test_world();
    }
    snprintf(testing_label, sizeof testing_label, "after the end");
    cco_caf_end();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "%d", sum);
    MPI_Finalize();
    return testing_end("caf_area");
}
