/* SPDX-License-Identifier: BSD-3-Clause */
/* fences.c - see fences.h. */
#include "transport/rma/fences.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/service.h"
#include "transport/local/local.h"
#include "transport/stream/line.h"

/* Words of a line (line.h): what the peer has told.  The pieces lie behind these. */
enum {
    SENT = 0,
    TAKEN = 4,
    THROUGH = 8, /* and the next word: calls take them in turn, see in_turn */
    LEFT = 16,   /* the class of the error with which it has given up */
    CALL = 20,   /* and the next word, in turn: half of the heads of its messages; or 0 */
};

static bool fences_make_room(cco_fences *e, int n)
{
    e->pairs = calloc((size_t)n, sizeof *e->pairs);
    return cco_turns_make(&e->turns, n) && e->pairs != NULL;
}

const char *cco_fences_open(cco_fences *e, size_t piece, MPI_Comm comm, cco_window_life life)
{
    int size;
    PMPI_Comm_size(comm, &size);
    const size_t n = (size_t)size;
    *e = (cco_fences){.piece = piece};
    const char *why = cco_window_make_bare(&e->window, n * (CCO_LINE + CCO_FRAGMENT_HEAD + piece),
                                           comm, CCO_WINDOW_FENCED, life);
    if (why != NULL)
        return why;
    memset(e->window.area.share, 0, n * CCO_LINE);
    if (!cco_service_all(fences_make_room(e, size), comm))
        why = "no memory";
    else if (!cco_service_all(PMPI_Win_fence(0, e->window.win) == MPI_SUCCESS, comm))
        why = "the MPI makes no fences";
    if (why != NULL)
        cco_fences_close(e, false);
    return why;
}

void cco_fences_close(cco_fences *e, bool retire)
{
    e->window.broken = e->broken;
    (retire ? cco_window_retire : cco_window_free)(&e->window);
    free(e->pairs);
    cco_turns_free(&e->turns);
    *e = (cco_fences){0};
}

/* True if fence `a` was after `b`; they may wrap around. */
static bool fences_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* `word` must stay until the fence. */
static int fences_tell(cco_fences *e, int peer, size_t at, const uint32_t *word)
{
    const MPI_Aint place = (MPI_Aint)((size_t)e->window.area.rank * CCO_LINE + at);
    return PMPI_Accumulate(word, 1, MPI_UINT32_T, peer, place, 1, MPI_UINT32_T, MPI_REPLACE,
                           e->window.win);
}

static int fences_fence(cco_fences *e)
{
    e->now++;
    return PMPI_Win_fence(0, e->window.win);
}

static size_t fences_slot_of(const cco_fences *e, int rank)
{
    return (size_t)e->window.area.size * CCO_LINE + (size_t)rank * (CCO_FRAGMENT_HEAD + e->piece);
}

/* Puts the next piece, which its receiver has room for. */
static int fences_put(cco_fences *e, cco_fragment *one)
{
    cco_fences_pair *pair = &e->pairs[one->peer];
    const int rc = cco_window_put_piece(&e->window, one, fences_slot_of(e, e->window.area.rank),
                                        e->piece);
    pair->sent = e->now + 1;
    return rc == MPI_SUCCESS ? fences_tell(e, one->peer, SENT, &pair->sent) : rc;
}

/* Afterwards, since data that have been put must stay until the fence, and are packed ones freed
 * with the last piece. */
static int put_over(cco_fragments *f)
{
    cco_fences *e = f->shared;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        cco_fragment *one = &f->list[i];
        if (!one->moved)
            continue;
        one->moved = false;
        cco_fragment_advance(one, cco_fragment_part(one, e->piece));
        rc = cco_fragment_check(f, one);
    }
    return rc;
}

static int fences_send(cco_fragments *f)
{
    cco_fences *e = f->shared;
    int rc = MPI_SUCCESS;
    e->turns.pass++;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        cco_fragment *one = &f->list[i];
        if (!cco_turns_has(&e->turns, one, true) ||
            cco_line_word(&e->window.area, one->peer, TAKEN) != e->pairs[one->peer].sent)
            continue;
        one->moved = true;
        rc = fences_put(e, one);
    }
    return rc;
}

static int tell_all(cco_fences *e, size_t at, const uint32_t *word)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < e->window.area.size && rc == MPI_SUCCESS; i++)
        rc = fences_tell(e, i, at, word);
    return rc;
}

/* All learn at the next fence that this rank takes no further part. */
static int fences_leave(cco_fences *e, int error)
{
    e->left = (uint32_t)error;
    tell_all(e, LEFT, &e->left);
    return error;
}

/* The pieces that have come, and says so to their senders before the next fence. */
static int fences_receive(cco_fragments *f)
{
    cco_fences *e = f->shared;
    int rc = MPI_SUCCESS;
    e->turns.pass++;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        cco_fragment *one = &f->list[i];
        const int peer = one->peer;
        if (!cco_turns_has(&e->turns, one, false))
            continue;
        const uint32_t sent = cco_line_word(&e->window.area, peer, SENT);
        if (sent == e->pairs[peer].taken || fences_after(sent, e->now))
            continue;
        rc = cco_fragment_take(f, one, e->window.area.share + fences_slot_of(e, peer), e->piece,
                               &e->unlike);
        e->pairs[peer].taken = sent;
        if (rc == MPI_SUCCESS)
            rc = fences_tell(e, peer, TAKEN, &e->pairs[peer].taken);
    }
    return rc == MPI_SUCCESS ? rc : fences_leave(e, rc);
}

/* The error with which a rank has left because it met an unlike call. */
static int fences_left(cco_fences *e)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < e->window.area.size && error == MPI_SUCCESS; i++)
        error = i != e->window.area.rank ? (int)cco_line_word(&e->window.area, i, LEFT)
                                         : MPI_SUCCESS;
    e->unlike.heard = e->unlike.heard || error != MPI_SUCCESS;
    return error;
}

/* Where a word of the call lies that is written before a fence: it may be seen by a rank that is
 * not there yet, and must not hide from it what was written in the call before. */
static size_t in_turn(const cco_fences *e, size_t at)
{
    return at + e->calls % 2 * sizeof(uint32_t);
}

static void fences_begin(void *transfer)
{
    cco_fragments *f = transfer;
    cco_fences *e = f->shared;
    cco_fragments_begin(f, NULL, ++e->schedules);
    e->call = (uint32_t)f->head;
    tell_all(e, in_turn(e, CALL), &e->call);
}

/* After the first fence of a call, before which all ranks have said which one they make. */
static int fences_compare(const cco_fragments *f)
{
    cco_fences *e = f->shared;
    for (int i = 0; i < e->window.area.size && e->now == e->ended + 1; i++) {
        const uint32_t there = cco_line_word(&e->window.area, i, in_turn(e, CALL));
        if (there != 0 && there != e->call)
            return fences_leave(
                e, cco_fragments_elsewhere(f, there | CCO_STAMP_UNSIZED, i, &e->unlike));
    }
    return MPI_SUCCESS;
}

static int fences_test(void *transfer, bool *done)
{
    cco_fragments *f = transfer;
    cco_fences *e = f->shared;
    int rc = e->broken ? MPI_ERR_OTHER : fences_left(e);
    if (rc == MPI_SUCCESS && f->count > 0)
        rc = fences_receive(f); /* what came in rounds before */
    if (rc == MPI_SUCCESS && f->done < f->count) {
        rc = fences_send(f);
        if (rc == MPI_SUCCESS)
            rc = fences_fence(e);
        if (rc == MPI_SUCCESS)
            rc = fences_compare(f);
        if (rc == MPI_SUCCESS)
            rc = put_over(f);
        if (rc == MPI_SUCCESS)
            rc = fences_receive(f);
    }
    *done = rc == MPI_SUCCESS && cco_fragments_done(f);
    return rc;
}

static void fences_give_up(void *shared)
{
    cco_fences *e = shared;
    e->broken = true;
}

static void fences_abandon(void *transfer)
{
    cco_fragments *f = transfer;
    cco_fragments_drop(f);
    fences_give_up(f->shared);
}

/* What is written before a fence must not count for a rank that sees it too early: it would go, and
 * the others wait for it at the next one. */
static bool all_through(const cco_fences *e)
{
    for (int i = 0; i < e->window.area.size; i++) {
        const uint32_t word = cco_line_word(&e->window.area, i, in_turn(e, THROUGH));
        if (!fences_after(word, e->ended) || fences_after(word, e->now))
            return false;
    }
    return true;
}

int cco_fences_end(cco_fences *e)
{
    int rc = e->call == 0 ? tell_all(e, in_turn(e, CALL), &e->call) : MPI_SUCCESS;
    e->through = e->now + 1;
    rc = rc == MPI_SUCCESS ? tell_all(e, in_turn(e, THROUGH), &e->through) : rc;
    do
        rc = rc == MPI_SUCCESS ? fences_fence(e) : rc;
    while (rc == MPI_SUCCESS && !all_through(e));
    e->ended = e->now;
    e->call = 0;
    e->calls++;
    return rc == MPI_SUCCESS ? fences_left(e) : rc; /* on all ranks, which make no more fences */
}

const cco_transport cco_transport_fences = {
    .name = "fences",
    .open = cco_fragments_open,
    .close = free,
    .stamp = cco_fragments_stamp,
    .give_up = fences_give_up,
    .begin = fences_begin,
    .recv = cco_fragments_recv,
    .send = cco_fragments_send,
    .test = fences_test,
    .abandon = fences_abandon,
    .copy = cco_mpi_copy,
    .reduce = cco_mpi_reduce,
};
