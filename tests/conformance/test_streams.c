/* SPDX-License-Identifier: BSD-3-Clause */
/* test_streams.c - schedules over streams (transport/stream/stream.h), all ranks in one process
 * (sequence.h).  Rings are so small that messages come round.  Some messages are shown, each rank
 * by its own limit, and read by a system call that brings all, a part, or nothing (reads.h).
 *
 *     conformance-streams [SEQUENCES [SEED]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/bound.h"
#include "reads.h"
#include "base/pause.h"
#include "sched/engine_loop.h"
#include "sequence.h"
#include "transport/stream/stream.h"

enum { RANKS = 9, STACK = 256 << 10 };

typedef struct rank {
    cco_area area;
    cco_stream stream;
} rank;

static rank ranks[RANKS];
static char *shares[RANKS];
static long passed, waited; /* schedules that went through at once, and not */
static long shown, given;   /* messages, at the end of sequences; bytes through rings, */
static long blocks;         /* and blocks that changed hands */
static int opened;          /* blocks of a sequence, */
static uint64_t from;       /* and bytes from which it counts */

/* Others run before and after a word is written: it is the order of words that they go by. */
static int tell_slowly(cco_area *area, int peer, size_t at, uint32_t word)
{
    int tries = 0;
    if (rand() % 4 == 0)
        cco_pause(&tries);
    const int rc = cco_area_quiet.tell(area, peer, at, word);
    if (rand() % 4 == 0)
        cco_pause(&tries);
    return rc;
}

static void explain(void)
{
    printf("  rings of %zu bytes\n", ranks[0].stream.ring);
}

static void use_presets(cco_problem *q, const cco_algo *algo)
{
    memset(q->params, 0, sizeof q->params);
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        q->params[i] = algo->params[i].preset;
}

/* One of those that can do the case, the same on all ranks. */
static const cco_algo *some_algo(const world *w, cco_problem *q)
{
    const cco_algo *found = NULL, *algo;
    unsigned n = 0;
    for (int i = 0; (algo = cco_algo_of(w->c.coll, i)) != NULL; i++) {
        use_presets(q, algo);
        if (!cco_algo_shares(algo, w->c.coll) && cco_algo_refuses(algo, q) == NULL &&
            (w->c.seed * 7919u + (unsigned)i) % ++n == 0)
            found = algo;
    }
    use_presets(q, found);
    return found;
}

/* Memory that is the rank's only during the call: what others read there later is wrong. */
static char *lend(const void *data, size_t n)
{
    char *copy = malloc(n + 1);
    if (data != NULL && n > 0)
        memcpy(copy, data, n);
    return copy;
}

static void end(char *copy, size_t n)
{
    memset(copy, 0x55, n);
    free(copy);
}

/* As transports do that have a copy of it: every other schedule. */
static int pass(cco_engine *e, const cco_binding *binding)
{
    int rc = MPI_SUCCESS;
    cco_transport words = cco_transport_stream;
    words.words = true;
    const struct task *end = cco_engine_pass(e, binding, &words, &rc);
    passed += end == NULL;
    if (end == NULL)
        return rc;
    waited++;
    cco_engine_stay(e, end);
    return cco_engine_wait(e);
}

static int run(int me, world *w, cco_sched *s)
{
    const cco_memory *memory = w->sim.ranks[me].memory;
    const cco_memory *in = &memory[CCO_IN], *out = &memory[CCO_OUT];
    cco_transport passing = cco_transport_stream; /* while the engine is there */
    passing.run = pass;
    cco_engine *engine = cco_engine_new(s, w->c.seed % 2 ? &passing : &cco_transport_stream,
                                        &ranks[me].stream);
    cco_binding binding = {.base = {NULL}};
    if (engine == NULL)
        return MPI_ERR_OTHER;
    binding.base[CCO_IN] = lend(in->data, in->size);
    binding.base[CCO_OUT] = lend(out->data, out->size);
    binding.base[CCO_TMP] = lend(NULL, s->scratch);
    for (int base = 0; base < CCO_BASES; base++)
        binding.layouts[base] = w->layouts[base];
    const int rc = cco_engine_run(engine, &binding);
    memcpy(out->data, binding.base[CCO_OUT], out->size);
    end(binding.base[CCO_IN], in->size);
    end(binding.base[CCO_OUT], out->size);
    end(binding.base[CCO_TMP], s->scratch);
    cco_engine_free(engine);
    return rc;
}

/* The byte at a place of a message; which one, and of whom, shows. */
static char byte_of(int from, int message, size_t at)
{
    return (char)(31 * from + 7 * message + (int)(at % 251));
}

/* Several messages to the next rank in one round, small and large ones: bytes, the same on all
 * ranks. */
static size_t message_bytes(const world *w, int i)
{
    const size_t all[] = {40, 700, 5000, 1, 9000, 16383, 40000};
    return all[(w->c.seed + (unsigned)i * 3) % 7] + (size_t)i;
}

static bool is_right(const char *data, size_t n, int from, int message)
{
    for (size_t k = 0; k < n; k++)
        if (data[k] != byte_of(from, message, k))
            return false;
    return true;
}

static int some_messages(int me, const world *w)
{
    enum { MESSAGES = 4 };
    const cco_layout bytes = cco_layout_of_bytes;
    const int size = w->c.p, from = (me + size - 1) % size;
    void *transfer = cco_transport_stream.open(&ranks[me].stream, 2 * MESSAGES);
    char *in[MESSAGES], *out[MESSAGES];
    bool done = false, right = true;
    int tries = 0, rc = MPI_SUCCESS;
    cco_transport_stream.begin(transfer);
    for (int i = 0; i < MESSAGES; i++) {
        const size_t n = message_bytes(w, i);
        in[i] = lend(NULL, n);
        out[i] = lend(NULL, n);
        for (size_t k = 0; k < n; k++)
            out[i][k] = byte_of(me, i, k);
        cco_transport_stream.recv(transfer, from, &(cco_data){in[i], n, &bytes});
        cco_transport_stream.send(transfer, (me + 1) % size, &(cco_data){out[i], n, &bytes});
    }
    while (!done && (rc = cco_transport_stream.test(transfer, &done)) == MPI_SUCCESS)
        cco_pause(&tries);
    for (int i = 0; i < MESSAGES; i++) {
        right = right && is_right(in[i], message_bytes(w, i), from, i);
        end(in[i], message_bytes(w, i));
        end(out[i], message_bytes(w, i));
    }
    cco_transport_stream.close(transfer);
    if (!right)
        sequence_fail(w, "wrong data in messages of one round");
    return rc;
}

static int call(int me, world *w)
{
    ranks[me].stream.shows = (cco_shown_rule){0};
    if (rand() % 3) /* at once, or what is left, sooner or later */
        ranks[me].stream.shows = (cco_shown_rule){1 + (size_t)rand() % 4000,
                                                  rand() % 2 ? rand() % 20000 : 0};
    if (some_messages(me, w) != MPI_SUCCESS)
        return MPI_ERR_OTHER;
    cco_problem q = w->problems[me];
    const cco_algo *algo = some_algo(w, &q);
    cco_sched *s = cco_sched_new(&q);
    algo->build(s, &q);
    const int rc = run(me, w, s);
    cco_sched_free(s);
    return rc;
}

static int blocks_of(int size)
{
    int held = 0;
    for (int i = 0; i < size; i++)
        held += ranks[i].stream.blocks.held;
    return held;
}

/* As after many messages: the words soon come round. */
static void count_from(rank *r, uint64_t bytes)
{
    for (int peer = 0; peer < r->area.size; peer++) {
        cco_stream_pair *pair = &r->stream.pairs[peer];
        char *line = r->area.share + (size_t)peer * CCO_LINE;
        const uint32_t word = (uint32_t)bytes;
        pair->given = pair->taken = pair->given_told = pair->taken_told = bytes;
        memcpy(line + CCO_LINE_GIVEN, &word, sizeof word);
        memcpy(line + CCO_LINE_TAKEN, &word, sizeof word);
    }
}

static void open_streams(int size, char *memory, size_t share)
{
    const bool gets = rand() % 3 == 0;
    static cco_area_kind slow;
    slow = cco_area_quiet;
    slow.tell = tell_slowly;
    for (int i = 0; i < size; i++)
        shares[i] = memory + (size_t)i * share;
    for (int i = 0; i < size; i++) {
        rank *r = &ranks[i];
        r->area = (cco_area){.kind = &slow,
                             .share = shares[i],
                             .bytes = share,
                             .rank = i,
                             .size = size,
                             .shares = shares};
        cco_stream_open(&r->stream, &r->area, gets);
        count_from(r, from);
        cco_shown_open(&r->area);
    }
    opened = blocks_of(size);
}

/* Every block has one holder. */
static void check_blocks(int size)
{
    bool held[RANKS * CCO_STREAM_BLOCKS_UNREAD] = {false};
    int all = 0;
    for (int i = 0; i < size; i++)
        for (int k = 0; k < ranks[i].stream.blocks.held; k++, all++)
            held[ranks[i].stream.blocks.list[k]] = true;
    for (int k = 0; k < size * CCO_STREAM_BLOCKS_UNREAD; k++)
        all -= held[k];
    if (all == 0 && blocks_of(size) == opened)
        return;
    printf("blocks that are lost, or held twice\n");
    sequence_failures++;
}

static void close_streams(int size)
{
    check_blocks(size);
    for (int i = 0; i < size; i++) {
        for (int peer = 0; peer < size; peer++) {
            shown += ranks[i].stream.pairs[peer].shown.shown;
            given += (long)(ranks[i].stream.pairs[peer].given - from);
            blocks += ranks[i].stream.pairs[peer].blocks.passed;
        }
        cco_stream_close(&ranks[i].stream);
    }
}

/* A message from rank 0 to rank 1 is shown and withdrawn, as when another rank has failed: after it
 * was read, but before rank 0 has seen that, or while it is read.  No data count that are read
 * afterwards. */
static void *withdrawing;
static char withdrawn[1000];

static void withdraw(void)
{
    cco_transport_stream.abandon(withdrawing);
    memset(withdrawn, 0x55, sizeof withdrawn);
}

static void check_withdrawn(bool meanwhile)
{
    const cco_data data = {withdrawn, sizeof withdrawn, &cco_layout_of_bytes};
    const size_t share = cco_stream_share(2, 640);
    char *memory = calloc(2, share), in[sizeof withdrawn];
    bool done;
    open_streams(2, memory, share);
    ranks[0].area.kind = ranks[1].area.kind = &cco_area_quiet; /* nobody else runs here */
    ranks[0].stream.shows = (cco_shown_rule){1, 0};
    void *transfer = cco_transport_stream.open(&ranks[1].stream, 2);
    withdrawing = cco_transport_stream.open(&ranks[0].stream, 1);
    memset(withdrawn, 1, sizeof withdrawn);
    cco_transport_stream.begin(withdrawing);
    cco_transport_stream.send(withdrawing, 1, &data);
    cco_transport_stream.test(withdrawing, &done);
    reads.after = meanwhile ? withdraw : NULL;
    for (int i = 0; i < 2 - meanwhile; i++) {
        cco_transport_stream.begin(transfer);
        cco_transport_stream.recv(transfer, 0, &(cco_data){in, sizeof in, data.layout});
        cco_transport_stream.test(transfer, &done);
        if (done != (i == 0 && !meanwhile)) {
            printf("a message that was withdrawn %s\n", done ? "was read" : "before: nothing came");
            sequence_failures++;
        }
        if (i == 0 && !meanwhile)
            withdraw();
    }
    cco_transport_stream.close(withdrawing);
    cco_transport_stream.close(transfer);
    for (int i = 0; i < 2; i++)
        cco_stream_close(&ranks[i].stream);
    free(memory);
}

static world_case some_case(int size)
{
    static const int elements[] = {0, 1, 2, 7, 31, 33, 100, 400, 3000};
    const cco_coll coll = (cco_coll)(rand() % CCO_COLLECTIVES);
    const int properties = cco_coll_infos[coll].properties;
    int n = elements[(size_t)rand() % (sizeof elements / sizeof elements[0])];
    if (size < 4 && rand() % 20 == 0)
        n = 3 * CCO_SHOWN_MOST / WORLD_ELEMENT; /* several reads */
    return (world_case){.coll = coll,
                        .p = size,
                        .n = n,
                        .root = properties & CCO_ROOTED ? rand() % size : 0,
                        .shape = (unsigned)rand() % 4,
                        .graph = cco_is_neighbor(coll) ? (unsigned)rand() : 0,
                        .in_place = world_in_place(coll) && rand() % 2,
                        .commutative = !(properties & CCO_REDUCTION) || rand() % 2,
                        .seed = 1 + (unsigned)rand() % 1000};
}

static void run_sequence(void)
{
    sequence s = {.calls = SEQUENCE_CALLS, .looks = 20000000, .call = call, .explain = explain};
    s.size = 2 + rand() % (RANKS - 1);
    static const size_t large[] = {4032, 4096, 4160, 24512, 24576, 49088, 49152};
    const size_t small = 64 * (size_t)(1 + rand() % (rand() % 2 ? 3 : 300)),
                 ring = rand() % 4 ? small : large[(size_t)rand() % (sizeof large / sizeof *large)];
    from = rand() % 4 ? 0 : (UINT64_C(1) << 32) - (uint64_t)rand() % 300000;
    const size_t share = cco_stream_share(s.size, ring);
    char *memory = calloc((size_t)s.size, share);
    reads.failing = rand() % 2 ? 1 + rand() % 200 : 0;
    open_streams(s.size, memory, share);
    for (int i = 0; i < s.calls; i++)
        s.cases[i] = some_case(s.size);
    sequence_run(&s);
    close_streams(s.size);
    free(memory);
}

int main(int argc, char **argv)
{
    const int sequences = argc > 1 ? atoi(argv[1]) : 600;
    const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    sequence_open(RANKS, STACK);
    check_withdrawn(false);
    check_withdrawn(true);
    for (int i = 0; i < sequences && sequence_failures == 0; i++) {
        srand(seed + (unsigned)i);
        run_sequence();
        if (sequence_failures > 0)
            printf("again: conformance-streams 1 %u\n", seed + (unsigned)i);
    }
    sequence_close();
    printf("%ld calls, %ld bytes through rings, %ld blocks, %ld messages shown, %ld reads by the"
           " kernel (%ld in part, %ld not, %ld told), %ld failures\n",
           sequence_runs, given, blocks, shown, reads.count, reads.partial, reads.failed,
           sequence_logged, sequence_failures);
    return sequence_failures > 0 ||
           (sequences > 50 &&
            (given == 0 || blocks == 0 || shown == 0 || passed == 0 || waited == 0 ||
             reads.partial == 0 || reads.failed == 0 || sequence_logged != 1));
}
