/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs.c - see epochs.h. */
#include "transport/rma/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/service.h"
#include "transport/local/local.h"
#include "transport/stream/line.h"

/* Words of a line (line.h): what the peer has told, and the class of the error with which it has
 * given up. */
enum { OFFERED = 0, TURNED = 4, WANTED = 8, EXPOSED = 12, LEFT = 16 };

static bool rma_epochs_make_room(cco_epochs *e, size_t n)
{
    e->pairs = calloc(n, sizeof *e->pairs);
    e->list = calloc(n, sizeof *e->list);
    if (e->data.open == NULL)
        e->data.open = calloc(n, sizeof *e->data.open);
    return cco_turns_make(&e->turns, (int)n) && e->pairs != NULL && e->list != NULL &&
           e->data.open != NULL;
}

const char *cco_epochs_open(cco_epochs *e, size_t piece, MPI_Comm comm, bool share,
                            cco_window_life life)
{
    int size;
    PMPI_Comm_size(comm, &size);
    const size_t n = (size_t)size;
    *e = (cco_epochs){.piece = piece, .everybody = MPI_GROUP_NULL};
    const char *why = cco_window_make(&e->words, n * CCO_LINE, n * CCO_LINE, comm, share, life);
    if (why == NULL)
        why = cco_window_make_bare(&e->data, n * (CCO_FRAGMENT_HEAD + piece), comm,
                                   CCO_WINDOW_POSTED, life);
    if (why == NULL && !cco_service_all(rma_epochs_make_room(e, n), comm))
        why = "no memory";
    if (why == NULL)
        PMPI_Comm_group(comm, &e->everybody);
    else
        cco_epochs_close(e, false);
    return why;
}

void cco_epochs_close(cco_epochs *e, bool retire)
{
    void (*const end)(cco_window *) = retire ? cco_window_retire : cco_window_free;
    e->words.broken = e->data.broken = e->broken;
    for (int i = 0; i < e->data.area.size && e->data.open != NULL; i++)
        e->data.open[i] = e->data.open[i] && e->exposed;
    end(&e->words);
    end(&e->data);
    if (e->pairs != NULL && e->everybody != MPI_GROUP_NULL)
        PMPI_Group_free(&e->everybody);
    free(e->pairs);
    free(e->list);
    cco_turns_free(&e->turns);
    *e = (cco_epochs){0};
}

static int rma_epochs_tell(cco_epochs *e, int peer, size_t at, uint32_t word)
{
    return cco_line_tell(&e->words.area, peer, at, word);
}

/* Where what a rank sends lies, a head and a piece. */
static size_t rma_epochs_slot_of(const cco_epochs *e, int rank)
{
    return (size_t)rank * (CCO_FRAGMENT_HEAD + e->piece);
}

static int rma_epochs_leave(cco_epochs *e, int error)
{
    for (int i = 0; i < e->words.area.size && error != MPI_SUCCESS; i++)
        if (i != e->words.area.rank)
            rma_epochs_tell(e, i, LEFT, (uint32_t)error);
    return error;
}

/* The exposure has ended: its pieces are here. */
static int rma_epochs_take(cco_fragments *f)
{
    cco_epochs *e = f->shared;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        cco_fragment *one = &f->list[i];
        if (!cco_turns_has(&e->turns, one, false) || !e->data.open[one->peer])
            continue;
        e->data.open[one->peer] = false;
        rc = cco_fragment_take(f, one, e->data.area.share + rma_epochs_slot_of(e, one->peer),
                               e->piece, &e->unlike);
    }
    return rma_epochs_leave(e, rc);
}

/* Functions of the MPI, called and not pointed to: the loader may find what is called later, and
 * must where the preload library meets a process without MPI. */
static int rma_epochs_post(MPI_Group group, int assert, MPI_Win win)
{
    return PMPI_Win_post(group, assert, win);
}

static int rma_epochs_start(MPI_Group group, int assert, MPI_Win win)
{
    return PMPI_Win_start(group, assert, win);
}

/* Opens an epoch for the first `n` peers of the list; `open` is post or start. */
static int open_epoch(cco_epochs *e, int n, int (*open)(MPI_Group group, int assert, MPI_Win win))
{
    MPI_Group group;
    int rc = PMPI_Group_incl(e->everybody, n, e->list, &group);
    if (rc == MPI_SUCCESS)
        rc = open(group, 0, e->data.win);
    return rc == MPI_SUCCESS ? PMPI_Group_free(&group) : rc;
}

/* Says which offers this rank wants, and exposes the window to those who have turned to it. */
static int rma_epochs_expose(cco_fragments *f)
{
    cco_epochs *e = f->shared;
    int n = 0, rc = MPI_SUCCESS;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++) {
        const cco_fragment *one = &f->list[i];
        if (!cco_turns_has(&e->turns, one, false))
            continue;
        cco_epochs_pair *pair = &e->pairs[one->peer];
        if (pair->wanted == pair->exposed &&
            cco_line_word(&e->words.area, one->peer, OFFERED) != pair->wanted)
            rc = rma_epochs_tell(e, one->peer, WANTED, ++pair->wanted);
        if (pair->wanted == pair->exposed ||
            cco_line_word(&e->words.area, one->peer, TURNED) == pair->exposed)
            continue;
        e->data.open[one->peer] = true;
        e->list[n++] = one->peer;
    }
    if (n == 0 || rc != MPI_SUCCESS)
        return rc;
    rc = open_epoch(e, n, rma_epochs_post);
    e->exposed = rc == MPI_SUCCESS;
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        rc = rma_epochs_tell(e, e->list[i], EXPOSED, ++e->pairs[e->list[i]].exposed);
    return rc;
}

static int rma_epochs_receive(cco_fragments *f)
{
    cco_epochs *e = f->shared;
    int ended = 0, rc = MPI_SUCCESS;
    if (e->exposed) {
        rc = PMPI_Win_test(e->data.win, &ended);
        if (rc != MPI_SUCCESS || !ended)
            return rc;
        e->exposed = false;
        e->turns.pass++;
        rc = rma_epochs_take(f);
    }
    e->turns.pass++;
    return rc == MPI_SUCCESS ? rma_epochs_expose(f) : rc;
}

/* Puts a piece to the receiver that has exposed its window for it. */
static int rma_epochs_put(cco_fragments *f, cco_fragment *one)
{
    cco_epochs *e = f->shared;
    e->list[0] = one->peer;
    int rc = open_epoch(e, 1, rma_epochs_start);
    if (rc == MPI_SUCCESS)
        rc = cco_window_put_piece(&e->data, one, rma_epochs_slot_of(e, e->words.area.rank),
                                  e->piece);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Win_complete(e->data.win);
    e->data.turned_to = -1;
    cco_fragment_advance(one, cco_fragment_part(one, e->piece));
    return rc == MPI_SUCCESS ? cco_fragment_check(f, one) : rc;
}

/* One step with a message that has its turn: offers its next piece, turns to its receiver if that
 * wants it, or puts it if the window is exposed. */
static int rma_epochs_serve(cco_fragments *f, cco_fragment *one)
{
    cco_epochs *e = f->shared;
    const int peer = one->peer;
    cco_epochs_pair *pair = &e->pairs[peer];
    if (e->data.turned_to == peer)
        return cco_line_word(&e->words.area, peer, EXPOSED) == pair->turned ? rma_epochs_put(f, one)
                                                                            : MPI_SUCCESS;
    if (pair->offered == pair->turned)
        return rma_epochs_tell(e, peer, OFFERED, ++pair->offered);
    if (e->data.turned_to >= 0 || cco_line_word(&e->words.area, peer, WANTED) != pair->offered)
        return MPI_SUCCESS;
    e->data.turned_to = peer;
    return rma_epochs_tell(e, peer, TURNED, ++pair->turned);
}

static int rma_epochs_send(cco_fragments *f)
{
    cco_epochs *e = f->shared;
    int rc = MPI_SUCCESS;
    e->turns.pass++;
    for (int i = 0; i < f->count && rc == MPI_SUCCESS; i++)
        if (cco_turns_has(&e->turns, &f->list[i], true))
            rc = rma_epochs_serve(f, &f->list[i]);
    return rc;
}

static int rma_epochs_test(void *transfer, bool *done)
{
    cco_fragments *f = transfer;
    cco_epochs *e = f->shared;
    cco_area *words = &e->words.area;
    int rc = e->broken ? MPI_ERR_OTHER : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && f->count > 0)
        rc = words->kind->look(words);
    if (rc == MPI_SUCCESS && f->count > 0)
        rc = rma_epochs_receive(f);
    if (rc == MPI_SUCCESS && f->count > 0)
        rc = rma_epochs_send(f);
    *done = rc == MPI_SUCCESS && cco_fragments_done(f);
    return rc;
}

/* Whether a rank has met an unlike call, or a peer has passed: what that had put would be here,
 * unless it is on its way to where this rank has exposed the window. */
static int rma_epochs_lost(void *transfer)
{
    const cco_fragments *f = transfer;
    cco_epochs *e = f->shared;
    uint64_t there;
    for (int i = 0; i < e->words.area.size; i++) {
        const int error = (int)cco_line_word(&e->words.area, i, LEFT);
        e->unlike.heard = e->unlike.heard || error != MPI_SUCCESS;
        if (error != MPI_SUCCESS)
            return error;
    }
    for (int i = 0; i < f->count; i++) {
        const int peer = f->list[i].peer;
        if (peer >= 0 && !e->data.open[peer] && cco_fragments_passed(f, peer, &there))
            return rma_epochs_leave(e, cco_fragments_elsewhere(f, there, peer, &e->unlike));
    }
    return MPI_SUCCESS;
}

static void rma_epochs_begin(void *transfer)
{
    cco_fragments *f = transfer;
    cco_epochs *e = f->shared;
    cco_fragments_begin(f, &e->words.area, ++e->schedules);
}

static void rma_epochs_give_up(void *shared)
{
    cco_epochs *e = shared;
    e->broken = true;
}

static void rma_epochs_abandon(void *transfer)
{
    cco_fragments *f = transfer;
    cco_fragments_drop(f);
    rma_epochs_give_up(f->shared);
}

const cco_transport cco_transport_epochs = {
    .name = "epochs",
    .open = cco_fragments_open,
    .close = free,
    .stamp = cco_fragments_stamp,
    .give_up = rma_epochs_give_up,
    .begin = rma_epochs_begin,
    .end = cco_fragments_end,
    .recv = cco_fragments_recv,
    .send = cco_fragments_send,
    .test = rma_epochs_test,
    .lost = rma_epochs_lost,
    .abandon = rma_epochs_abandon,
    .copy = cco_mpi_copy,
    .reduce = cco_mpi_reduce,
};
