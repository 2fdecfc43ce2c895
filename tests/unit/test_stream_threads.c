/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stream_threads.c - streams between threads, each of which is a rank, under the thread
 * sanitizer: it finds what one rank writes and another reads without a word between them that
 * orders the two.  Messages go through rings, in blocks that change hands, and shown. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "base/log.h"
#include "plan/bound.h"
#include "testing/testing.h"
#include "transport/stream/stream.h"

enum { RANKS = 3, ROUNDS = 12, MESSAGES = 4 /* to each other rank, in a round */ };

typedef struct rank {
    cco_area area;
    cco_stream stream;
    pthread_t thread;
    long wrong; /* bytes, and errors */
} rank;

/* The messages of a round between two ranks. */
typedef struct lot {
    char *in[MESSAGES], *out[MESSAGES];
} lot;

static rank ranks[RANKS];
static char *shares[RANKS];
static long blocks, shown, given;

/* In place of the library's: a message could not be read. */
void cco_log(cco_log_level level, const char *format, ...)
{
    CHECK(false, "level %d: %s", (int)level, format);
}

static size_t bytes_of(int round, int from, int to, int i)
{
    static const size_t all[] = {0, 40, 700, 4095, 4096, 9000, 16384, 40000};
    return all[(unsigned)(round * 5 + from * 3 + to * 7 + i * 11) % LEN(all)];
}

static char byte_of(int round, int from, int i, size_t at)
{
    return (char)(round + 31 * from + 7 * i + (int)(at % 251));
}

static void begin(rank *r, void *transfer, int round, lot *lots)
{
    const cco_layout bytes = cco_layout_of_bytes;
    const int me = r->area.rank;
    cco_transport_stream.begin(transfer);
    for (int peer = 0; peer < RANKS; peer++)
        for (int i = 0; i < MESSAGES && peer != me; i++) {
            const size_t in = bytes_of(round, peer, me, i), out = bytes_of(round, me, peer, i);
            lots[peer].in[i] = malloc(in + 1);
            lots[peer].out[i] = malloc(out + 1);
            for (size_t k = 0; k < out; k++)
                lots[peer].out[i][k] = byte_of(round, me, i, k);
            cco_transport_stream.recv(transfer, peer, &(cco_data){lots[peer].in[i], in, &bytes});
            cco_transport_stream.send(transfer, peer, &(cco_data){lots[peer].out[i], out, &bytes});
        }
}

static void end(rank *r, int round, lot *lots)
{
    const int me = r->area.rank;
    for (int peer = 0; peer < RANKS; peer++)
        for (int i = 0; i < MESSAGES && peer != me; i++) {
            for (size_t k = 0; k < bytes_of(round, peer, me, i); k++)
                r->wrong += lots[peer].in[i][k] != byte_of(round, peer, i, k);
            free(lots[peer].in[i]);
            free(lots[peer].out[i]);
        }
}

static void *run(void *data)
{
    const struct timespec nap = {.tv_nsec = 20000};
    rank *r = data;
    lot lots[RANKS];
    void *transfer = cco_transport_stream.open(&r->stream, 2 * MESSAGES * RANKS);
    for (int round = 0; round < ROUNDS; round++) {
        bool done = false;
        begin(r, transfer, round, lots);
        while (!done) {
            r->wrong += cco_transport_stream.test(transfer, &done) != MPI_SUCCESS;
            nanosleep(&nap, NULL);
        }
        end(r, round, lots);
    }
    cco_transport_stream.close(transfer);
    return NULL;
}

static void close_rank(rank *r)
{
    for (int peer = 0; peer < RANKS; peer++) {
        blocks += r->stream.pairs[peer].blocks.passed;
        shown += r->stream.pairs[peer].shown.shown;
        given += (long)r->stream.pairs[peer].given;
    }
    cco_stream_close(&r->stream);
}

static void try(size_t ring, bool gets, cco_shown_rule shows)
{
    const size_t share = cco_stream_share(RANKS, ring);
    char *memory = aligned_alloc(CCO_LINE, RANKS * share);
    memset(memory, 0, RANKS * share);
    for (int i = 0; i < RANKS; i++) {
        shares[i] = memory + (size_t)i * share;
        ranks[i] = (rank){.area = {.kind = &cco_area_quiet,
                                   .share = shares[i],
                                   .bytes = share,
                                   .rank = i,
                                   .size = RANKS,
                                   .shares = shares,
                                   .comm = MPI_COMM_NULL}};
        cco_stream_open(&ranks[i].stream, &ranks[i].area, gets);
        cco_shown_open(&ranks[i].area);
        ranks[i].stream.shows = shows;
    }
    for (int i = 0; i < RANKS; i++)
        pthread_create(&ranks[i].thread, NULL, run, &ranks[i]);
    for (int i = 0; i < RANKS; i++) {
        pthread_join(ranks[i].thread, NULL);
        CHECK(ranks[i].wrong == 0, "%ld bytes of rank %d wrong", ranks[i].wrong, i);
    }
    for (int i = 0; i < RANKS; i++)
        close_rank(&ranks[i]);
    free(memory);
}

int main(void)
{
    testing_watchdog(60);
    for (int gets = 0; gets < 2; gets++) {
        try(4096, gets, (cco_shown_rule){0});
        try(49152, gets, (cco_shown_rule){0});
        try(16384, gets, (cco_shown_rule){16 << 10, 0});
    }
    CHECK(blocks > 0 && shown > 0 && given > 0, "%ld blocks, %ld shown, %ld bytes", blocks, shown,
          given);
    return testing_end("test_stream_threads");
}
