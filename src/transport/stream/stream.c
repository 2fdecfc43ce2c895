/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.c - see stream.h.
 *
 * A share begins with a line for each peer (line.h).  The rings follow, one for each peer. */
#include "transport/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/own_lines.h"
#include "sched/engine_loop.h"
#include "transport/local/local.h"
#include "transport/stream/fragment.h"
#include "transport/stream/line.h"

enum {
    LEAST = 64,              /* bytes of a ring, */
    MOST = 1 << 30,          /* so that counters and int are wide enough */
    PIECES = 4,              /* of a ring: the one while the other is on its way */
    SMALL_PIECE = 16 << 10,  /* but not smaller than this */
    HEAD = sizeof(uint64_t), /* of a message */
};

size_t cco_stream_share(int size, size_t ring)
{
    return (size_t)size * (CCO_LINE + ring);
}

size_t cco_stream_ring(int size, size_t bytes)
{
    const size_t each = bytes / (size_t)size;
    const size_t ring = each > CCO_LINE ? (each - CCO_LINE) / CCO_LINE * CCO_LINE : 0;
    return ring < LEAST ? LEAST : ring > MOST ? MOST : ring;
}

bool cco_stream_open(cco_stream *stream, cco_area *area, bool gets)
{
    const size_t n = (size_t)area->size;
    *stream = (cco_stream){.area = area, .gets = gets};
    stream->ring = cco_stream_ring(area->size, area->bytes);
    area->writes.bytes = (size_t)(n > 1 ? n - 1 : 1) * stream->ring;
    stream->pairs = cco_own_lines(n * sizeof *stream->pairs);
    stream->stuck = cco_own_lines(2 * n * sizeof *stream->stuck);
    if (stream->pairs != NULL && stream->stuck != NULL &&
        cco_stream_blocks_open(&stream->blocks, area, n * CCO_LINE, stream->ring))
        return true;
    cco_stream_close(stream);
    return false;
}

void cco_stream_close(cco_stream *stream)
{
    free(stream->pairs);
    free(stream->stuck);
    cco_stream_blocks_close(&stream->blocks);
    *stream = (cco_stream){0};
}

/* Where byte `at` of the ring for `rank` lies, in the share that has it. */
static size_t stream_place_of(const cco_stream *s, int rank, size_t at)
{
    return (size_t)s->area->size * CCO_LINE + (size_t)rank * s->ring + at;
}

static size_t stream_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How much of a message may go at once from byte `at` of the ring on: to its end. */
static size_t stream_stretch(const cco_stream *s, size_t left, size_t at, size_t room)
{
    return stream_least(stream_least(left, room), s->ring - at);
}

/* A head lies at a multiple of its size, so that it does not go round the end of the ring. */
static size_t gap_at(uint64_t at)
{
    return (size_t)(-at % HEAD);
}

static size_t head_at(const cco_stream *s, uint64_t at)
{
    return (at + gap_at(at)) % s->ring;
}

/* Bytes after which the receiver should hear of them: it takes them while more are on their way. */
static size_t stream_piece_of(const cco_stream *s)
{
    const size_t piece = s->ring / PIECES;
    return piece > SMALL_PIECE ? piece : SMALL_PIECE;
}

static bool stream_is_over(const cco_fragment *it)
{
    return it->left == 0 && it->headed;
}

static void stream_advance(cco_fragment *it, size_t n)
{
    cco_fragment_advance(it, n);
    it->moved = true;
}

/* Whether what is left of a message may be shown. */
static bool may_show(const cco_stream *s, const cco_shown *shown, const cco_fragment *it)
{
    const size_t from = s->shows.from;
    return from > 0 && cco_data_bytes(&it->data) >= from &&
           it->left >= stream_least(from, CCO_SHOWN_LEAST) && !shown->refused;
}

/* Gives the head, once there is room for it. */
static int give_head(cco_stream *s, cco_stream_pair *pair, cco_fragment *it)
{
    const uint32_t taken = cco_line_word(s->area, it->peer, CCO_LINE_TAKEN);
    const size_t n = gap_at(pair->given) + HEAD;
    cco_area *area = s->area;
    if (s->ring - ((uint32_t)pair->given - taken) < n)
        return MPI_SUCCESS;
    const size_t at = head_at(s, pair->given);
    pair->given += n;
    it->headed = it->moved = true;
    if (!s->gets && area->shares == NULL)
        return area->kind->put(area, it->peer, stream_place_of(s, area->rank, at), &it->head, HEAD);
    char *ring = s->gets ? area->share + stream_place_of(s, it->peer, 0)
                         : area->shares[it->peer] + stream_place_of(s, area->rank, 0);
    memcpy(ring + at, &it->head, HEAD);
    return MPI_SUCCESS;
}

/* A piece of a message goes in a block. */
static int stream_pass(cco_stream *s, cco_stream_pair *pair, cco_fragment *it, size_t n)
{
    const int rc = cco_stream_blocks_pass(&s->blocks, &pair->blocks, s->area, it->peer,
                                          (uint32_t)pair->given, it->at, n);
    if (rc == MPI_SUCCESS)
        stream_advance(it, n);
    return rc;
}

/* As much of it as goes at once, at most `most` bytes, goes through the ring. */
static int stream_put(cco_stream *s, cco_stream_pair *pair, cco_fragment *it, size_t most,
                      size_t *n)
{
    const uint32_t taken = cco_line_word(s->area, it->peer, CCO_LINE_TAKEN);
    const size_t at = pair->given % s->ring; /* a division: once */
    int rc = MPI_SUCCESS;
    *n = stream_stretch(s, stream_least(it->left, most), at,
                        s->ring - ((uint32_t)pair->given - taken));
    if (*n == 0)
        return rc;
    if (s->gets)
        cco_writes_copy(&s->area->writes, CCO_WRITES_AT_ONCE, 0,
                        s->area->share + stream_place_of(s, it->peer, at), it->at, *n);
    else
        rc = s->area->kind->put(s->area, it->peer, stream_place_of(s, s->area->rank, at), it->at,
                                *n);
    if (rc != MPI_SUCCESS)
        return rc;
    pair->given += *n;
    stream_advance(it, *n);
    return rc;
}

/* A piece of a message, or two. */
static int give_piece(cco_stream *s, cco_stream_pair *pair, cco_fragment *it)
{
    int rc = MPI_SUCCESS;
    size_t piece = stream_piece_of(s), n = 1;
    for (; rc == MPI_SUCCESS && n > 0 && piece > 0 && it->left > 0;
         piece -= stream_least(piece, n)) {
        if (it->left >= CCO_STREAM_BLOCKS_LEAST &&
            cco_stream_blocks_ready(&s->blocks, &pair->blocks, s->area, it->peer)) {
            n = stream_least(it->left, s->blocks.bytes);
            rc = stream_pass(s, pair, it, n);
        } else {
            rc = stream_put(s, pair, it, piece, &n);
        }
    }
    return rc;
}

/* The peer hears of what it was given. */
static int tell_given(cco_stream *s, cco_stream_pair *pair, int peer)
{
    const int rc = s->gets ? MPI_SUCCESS : s->area->kind->complete(s->area, peer);
    if (rc != MPI_SUCCESS || pair->given == pair->given_told)
        return rc; /* in blocks */
    pair->given_told = pair->given;
    return cco_line_tell(s->area, peer, CCO_LINE_GIVEN, (uint32_t)pair->given);
}

/* A piece of a message that may be shown, or all that is left, if nothing has moved for long. */
static int give_or_show(cco_stream *s, cco_stream_pair *pair, cco_fragment *it)
{
    const long after = s->shows.after_ns, now = after > 0 ? cco_ns(CLOCK_MONOTONIC) : 0;
    int rc = MPI_SUCCESS;
    if (pair->moved_ns == 0)
        pair->moved_ns = now;
    if (now - pair->moved_ns < after) {
        rc = give_piece(s, pair, it);
        if (it->moved)
            pair->moved_ns = it->left > 0 ? now : 0;
        return rc;
    }
    rc = tell_given(s, pair, it->peer); /* first of all */
    return rc == MPI_SUCCESS ? cco_shown_show(&pair->shown, s->area, it) : rc;
}

static int stream_give(cco_stream *s, cco_fragment *it)
{
    cco_stream_pair *pair = &s->pairs[it->peer];
    if (pair->shown.waits) {
        pair->moved_ns = 0;
        return cco_shown_look(&pair->shown, s->area, it);
    }
    const int rc = it->headed ? MPI_SUCCESS : give_head(s, pair, it);
    if (rc != MPI_SUCCESS || !it->headed)
        return rc;
    if (may_show(s, &pair->shown, it))
        return give_or_show(s, pair, it);
    pair->moved_ns = 0;
    return give_piece(s, pair, it);
}

__attribute__((noinline, cold)) int cco_stream_leave(cco_stream *s, int error)
{
    cco_area *area = s->area;
    __atomic_store_n(&s->broken, true, __ATOMIC_RELAXED);
    for (int i = 0; i < area->size && area->watch == NULL; i++)
        if (i != area->rank)
            cco_line_tell(area, i, CCO_LINE_LEFT, (uint32_t)error);
    return error;
}

static int stream_rank_of(const cco_stream *s, int peer)
{
    return s->area->ranks != NULL ? s->area->ranks[peer] : peer;
}

/* The head of a message is another one.  The call of the peer says more, if it is still in it. */
__attribute__((noinline, cold)) static int stream_differs(const cco_fragments *f,
                                                          const cco_fragment *it, uint64_t head)
{
    cco_stream *s = f->shared;
    const int rank = stream_rank_of(s, it->peer);
    uint64_t there;
    cco_fragments_passed(f, it->peer, &there);
    const bool known = there >> CCO_STAMP_BYTES_AT > 0 && there != f->call &&
                       cco_stamp_same_number(there, head);
    return cco_stream_leave(s, known ? cco_fragments_elsewhere(f, there, rank, &s->unlike)
                                     : cco_fragment_differs(f, it, head, rank, &s->unlike));
}

/* Takes the head, if it is there, and compares it. */
static int take_head(const cco_fragments *f, cco_stream_pair *pair, cco_fragment *it,
                     uint32_t given)
{
    cco_stream *s = f->shared;
    cco_area *area = s->area;
    const size_t n = gap_at(pair->taken) + HEAD, at = head_at(s, pair->taken);
    uint64_t head;
    int rc = MPI_SUCCESS;
    if (given - (uint32_t)pair->taken < n)
        return rc;
    if (s->gets)
        rc = area->kind->get(area, it->peer, stream_place_of(s, area->rank, at), &head, HEAD);
    else
        memcpy(&head, area->share + stream_place_of(s, it->peer, at), HEAD);
    if (s->gets && rc == MPI_SUCCESS)
        rc = area->kind->complete(area, it->peer);
    if (rc != MPI_SUCCESS)
        return rc;
    if (head != it->head)
        return stream_differs(f, it, head);
    pair->taken += n;
    it->headed = it->moved = true;
    return rc;
}

/* Takes what has come through the ring, `n` bytes or as many as lie there in a row. */
static int stream_get(cco_stream *s, cco_stream_pair *pair, cco_fragment *it, size_t n)
{
    const size_t at = pair->taken % s->ring;
    int rc = MPI_SUCCESS;
    n = stream_stretch(s, it->left, at, n);
    if (s->gets)
        rc = s->area->kind->get(s->area, it->peer, stream_place_of(s, s->area->rank, at), it->at,
                                n);
    else
        memcpy(it->at, s->area->share + stream_place_of(s, it->peer, at), n);
    if (rc != MPI_SUCCESS)
        return rc;
    pair->taken += n;
    stream_advance(it, n);
    return rc;
}

static int take_block(cco_stream *s, cco_stream_pair *pair, cco_fragment *it)
{
    const size_t n = stream_least(it->left, s->blocks.bytes);
    const int rc = cco_stream_blocks_take(&s->blocks, &pair->blocks, s->area, it->peer, it->at, n);
    if (rc == MPI_SUCCESS)
        stream_advance(it, n);
    return rc;
}

static int stream_take(const cco_fragments *f, cco_fragment *it)
{
    cco_stream *s = f->shared;
    cco_stream_pair *pair = &s->pairs[it->peer];
    int rc = MPI_SUCCESS;
    uint32_t after = 0;
    const bool waits = it->left > 0 && cco_shown_waits(&pair->shown, s->area, it->peer);
    const uint32_t given = cco_line_word(s->area, it->peer, CCO_LINE_GIVEN);
    if (!it->headed)
        rc = take_head(f, pair, it, given);
    if (!it->headed)
        return rc;
    while (rc == MPI_SUCCESS && it->left > 0) {
        const uint32_t taken = (uint32_t)pair->taken;
        const bool block = s->blocks.bytes > 0 &&
                           cco_stream_blocks_next(&pair->blocks, s->area, it->peer, &after);
        size_t n = given - taken;
        if (block && after == taken)
            rc = take_block(s, pair, it);
        else if (n > 0)
            rc = stream_get(s, pair, it, block ? stream_least(n, after - taken) : n);
        else if (waits)
            return cco_shown_take(&pair->shown, s->area, it);
        else
            break;
    }
    return rc;
}

/* The peer hears what moved: at once of what it was given; of what was taken when half a ring has
 * come together, which leaves it the other half. */
static int stream_report(cco_stream *s, cco_fragment *it)
{
    cco_stream_pair *pair = &s->pairs[it->peer];
    it->moved = false;
    if (it->sends)
        return tell_given(s, pair, it->peer);
    const int rc = s->gets ? s->area->kind->complete(s->area, it->peer) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS || pair->taken - pair->taken_told < s->ring / 2)
        return rc;
    pair->taken_told = pair->taken;
    return cco_line_tell(s->area, it->peer, CCO_LINE_TAKEN, (uint32_t)pair->taken);
}

/* Moves every message as far as it goes now.  Those of one direction keep their order. */
static int stream_move(cco_fragments *f)
{
    cco_stream *s = f->shared;
    int rc = MPI_SUCCESS;
    s->pass++;
    for (int i = f->first; i < f->last && rc == MPI_SUCCESS; i++) {
        cco_fragment *it = &f->list[i];
        if (it->peer < 0)
            continue;
        unsigned *stuck = &s->stuck[2 * it->peer + it->sends];
        if (*stuck == s->pass)
            continue;
        rc = it->sends ? stream_give(s, it) : stream_take(f, it);
        if (!stream_is_over(it))
            *stuck = s->pass;
    }
    return rc;
}

/* Who waits passes over what is left: often the last of many messages. */
static int report_all(cco_fragments *f)
{
    int rc = MPI_SUCCESS, first = f->last, last = f->first;
    for (int i = f->first; i < f->last && rc == MPI_SUCCESS; i++) {
        cco_fragment *it = &f->list[i];
        if (it->peer < 0)
            continue;
        if (it->moved)
            rc = stream_report(f->shared, it);
        if (rc == MPI_SUCCESS && stream_is_over(it)) {
            rc = cco_fragment_end(f, it);
            continue;
        }
        first = i < first ? i : first;
        last = i + 1;
    }
    if (rc == MPI_SUCCESS) {
        f->first = first;
        f->last = last;
    }
    return rc;
}

static int stream_test(void *data, bool *done)
{
    cco_fragments *f = data;
    cco_stream *s = f->shared;
    int rc = __atomic_load_n(&s->broken, __ATOMIC_RELAXED) ? MPI_ERR_OTHER : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && f->count > 0)
        rc = s->area->kind->look(s->area);
    if (rc == MPI_SUCCESS)
        rc = stream_move(f);
    if (rc == MPI_SUCCESS)
        rc = report_all(f);
    *done = rc == MPI_SUCCESS && cco_fragments_done(f);
    return rc;
}

/* The error with which a peer has left; MPI_SUCCESS if it has not. */
static int left_with(const cco_area *area, int peer)
{
    if (area->watch == NULL)
        return (int)cco_line_word(area, peer, CCO_LINE_LEFT);
    return (int)__atomic_load_n(&area->watch->seats[peer].left, __ATOMIC_ACQUIRE);
}

/* The peer of a message that will not come further: it has left; it has passed, to call `stamp`; or
 * its process has ended, for which the kernel is asked about a few at a time.  -1 if none is known.
 */
static int stream_gone(cco_fragments *f, const cco_area *area, uint64_t *stamp)
{
    enum { ASKED = 16 };
    for (int i = 0; i < f->count; i++) {
        const int peer = f->list[i].peer;
        if (peer >= 0 &&
            (left_with(area, peer) != MPI_SUCCESS || cco_fragments_passed(f, peer, stamp)))
            return peer;
    }
    *stamp = 0;
    for (int n = 0; area->watch != NULL && n < f->count && n < ASKED; n++) {
        const int peer = f->list[f->asked++ % (unsigned)f->count].peer;
        if (peer >= 0 && cco_watch_gone(area->watch, peer))
            return peer;
    }
    return -1;
}

/* What `peer` should send cannot come. */
static int give_up_wait(cco_fragments *f, int peer, uint64_t stamp)
{
    cco_stream *s = f->shared;
    const int error = left_with(s->area, peer);
    if (error == MPI_SUCCESS && stamp != 0)
        return cco_stream_leave(
            s, cco_fragments_elsewhere(f, stamp, stream_rank_of(s, peer), &s->unlike));
    if (s->area->watch != NULL)
        return cco_watch_fail(s->area->watch, error, error != MPI_SUCCESS ? -1 : peer);
    s->unlike.heard = true;
    return cco_stream_leave(s, error);
}

static size_t left_of(const cco_fragments *f)
{
    size_t n = 0;
    for (int i = 0; i < f->count; i++)
        if (f->list[i].peer >= 0)
            n += f->list[i].left + !f->list[i].headed;
    return n;
}

/* What a peer gave before it ended, or went on, counts: so one more look comes between. */
static int stream_lost(void *data)
{
    cco_fragments *f = data;
    const cco_stream *s = f->shared;
    cco_watch *watch = s->area->watch;
    uint64_t stamp = 0;
    bool done = false;
    if (f->count == 0 || (watch != NULL && !cco_watch_due(watch)))
        return MPI_SUCCESS;
    const int error = watch != NULL ? cco_watch_error(watch) : MPI_SUCCESS;
    const int peer = error == MPI_SUCCESS ? stream_gone(f, s->area, &stamp) : -1;
    if (error == MPI_SUCCESS && peer < 0)
        return MPI_SUCCESS;
    const size_t before = left_of(f);
    const int rc = stream_test(data, &done);
    if (rc != MPI_SUCCESS || done || left_of(f) != before)
        return rc;
    return peer >= 0 ? give_up_wait(f, peer, stamp) : cco_watch_fail(watch, error, -1);
}

/* Where the streams are, nobody knows. */
static void stream_give_up(void *shared)
{
    cco_stream *s = shared;
    __atomic_store_n(&s->broken, true, __ATOMIC_RELAXED);
}

/* What is shown will be other data. */
static void stream_abandon(void *transfer)
{
    cco_stream *s = ((cco_fragments *)transfer)->shared;
    for (int peer = 0; peer < s->area->size; peer++)
        cco_shown_withdraw(&s->pairs[peer].shown, s->area, peer);
    cco_fragments_drop(transfer);
    stream_give_up(s);
}

/* Who waits long looks how far others have come. */
static void stream_begin(void *data)
{
    cco_fragments *f = data;
    cco_stream *s = f->shared;
    cco_fragments_begin(f, s->area, ++s->schedules);
}

static int stream_go_on(cco_engine *e)
{
    return cco_engine_loop(e, &cco_transport_stream);
}

const cco_transport cco_transport_stream = {
    .name = "stream",
    .go_on = stream_go_on,
    .sends_in_tests = true,
    .open = cco_fragments_open,
    .close = free,
    .stamp = cco_fragments_stamp,
    .give_up = stream_give_up,
    .begin = stream_begin,
    .end = cco_fragments_end,
    .recv = cco_fragments_recv,
    .send = cco_fragments_send,
    .test = stream_test,
    .lost = stream_lost,
    .over = cco_fragments_over,
    .abandon = stream_abandon,
    .copy = cco_mpi_copy,
    .reduce = cco_mpi_reduce,
};
