/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c - see window.h. */
#include "transport/rma/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "comm/channel.h"
#include "config/config.h"
#include "mpi/service.h"
#include "comm/teardown.h"
#include "comm/facts.h"
#include "comm/free_files.h"
#include "base/hold_signals.h"
#include "base/log.h"
#include "base/world.h"
#include "mpi/quirks.h"
#include "transport/rma/shared.h"
#include "transport/rma/window_pool.h"

enum {
    LOOKS = 16, /* one of so many lets the MPI get on */
    WHOLE = 64, /* windows are multiples of that: MPICH 4 errs about others (docs/mpi-defects.md) */
};

static cco_window *window_of_it(cco_area *area)
{
    return (cco_window *)area; /* its first member */
}

static int window_put(cco_area *area, int peer, size_t at, const void *from, size_t n)
{
    return PMPI_Put(from, (int)n, MPI_BYTE, peer, (MPI_Aint)at, (int)n, MPI_BYTE,
                    window_of_it(area)->win);
}

int cco_window_put_piece(const cco_window *w, cco_fragment *one, size_t at, size_t most)
{
    const MPI_Aint to = (MPI_Aint)at;
    const int n = (int)cco_fragment_part(one, most);
    int rc = MPI_SUCCESS;
    if (!one->headed)
        rc = PMPI_Put(&one->head, sizeof one->head, MPI_BYTE, one->peer, to, sizeof one->head,
                      MPI_BYTE, w->win);
    one->headed = true;
    return rc != MPI_SUCCESS ? rc
                             : PMPI_Put(one->at, n, MPI_BYTE, one->peer, to + CCO_FRAGMENT_HEAD, n,
                                        MPI_BYTE, w->win);
}

static int window_get(cco_area *area, int peer, size_t at, void *to, size_t n)
{
    return PMPI_Get(to, (int)n, MPI_BYTE, peer, (MPI_Aint)at, (int)n, MPI_BYTE,
                    window_of_it(area)->win);
}

static int window_complete(cco_area *area, int peer)
{
    return PMPI_Win_flush(peer, window_of_it(area)->win);
}

/* The synchronization before it is for what this rank wrote into its own share. */
static int window_tell(cco_area *area, int peer, size_t at, uint32_t word)
{
    const MPI_Win win = window_of_it(area)->win;
    int rc = PMPI_Win_sync(win);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Accumulate(&word, 1, MPI_UINT32_T, peer, (MPI_Aint)at, 1, MPI_UINT32_T,
                             MPI_REPLACE, win);
    return rc == MPI_SUCCESS ? PMPI_Win_flush(peer, win) : rc;
}

/* Where messages carry what others put and get, the MPI must be called for it to get on; no call of
 * windows promises that, a probe does. */
static int window_look(cco_area *area)
{
    const int rc = cco_area_progress_mpi(area, LOOKS);
    return rc == MPI_SUCCESS ? PMPI_Win_sync(window_of_it(area)->win) : rc;
}

static const cco_area_kind kind = {.name = "window",
                                   .put = window_put,
                                   .get = window_get,
                                   .complete = window_complete,
                                   .tell = window_tell,
                                   .look = window_look};

/* Words are waited for in this rank's own memory, which must be what others write to. */
static bool is_unified(MPI_Win win)
{
    int *model, found = 0;
    return PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found &&
           *model == MPI_WIN_UNIFIED;
}

/* Open MPI 4 stops a job with MPI_THREAD_MULTIPLE that makes a window between hosts without a
 * network of its own for that ("pt2pt does not support MPI_THREAD_MULTIPLE"). */
const char *cco_window_refused(MPI_Comm comm)
{
    int level = MPI_THREAD_SINGLE;
    if (CCO_OPEN_MPI == 0 || CCO_OPEN_MPI >= 5)
        return NULL;
    PMPI_Query_thread(&level);
    if (!cco_service_all(level < MPI_THREAD_MULTIPLE, comm) && !cco_window_can_share(comm))
        return "this Open MPI has no windows between hosts with MPI_THREAD_MULTIPLE";
    return NULL;
}

enum { PATIENCE = 5000, MILLISECOND = 1000000 };

/* Not one that other users can open, who might hold the lock; without any there is no turn. */
static int open_directory(void)
{
    const char *name = cco_configured.private_directory;
    return name != NULL ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* Does not wait for ever for another job, which may have been stopped just then, but for threads of
 * this one: without the lock they overwrite memory.  Nor at all where there are no such locks, as
 * on some file systems. */
static void window_lock(int directory, bool threads)
{
    const struct timespec nap = {.tv_nsec = MILLISECOND / 10};
    for (int i = 0; threads || i < 10 * PATIENCE; i += !threads) {
        if (flock(directory, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
            return;
        nanosleep(&nap, NULL);
    }
}

/* Open MPI 4 gives windows of different communicators on a node files of one name if they are made
 * at the same time, as those of all rows are, and in Open MPI 5 two threads of a process that make
 * windows at the same time overwrite memory (docs/mpi-defects.md).  So rank 0 of each takes its
 * turn: with a lock on a directory, which leaves nothing behind however the process ends.  All
 * ranks come to make the window first: who has the turn waits for nobody else. */
struct turn {
    int directory;
    bool threads; /* of Open MPI 5: nobody begins before rank 0 has the turn, or ends it alone */
};

static struct turn take_turn(MPI_Comm comm)
{
    struct turn turn = {.directory = -1};
    int rank, level = MPI_THREAD_SINGLE;
    if (!cco_quirk_win_allocate() && !cco_quirk_win_threads())
        return turn;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Query_thread(&level);
    turn.threads = !cco_service_all(level < MPI_THREAD_MULTIPLE, comm) && cco_quirk_win_threads();
    if (rank == 0 && (turn.threads || cco_quirk_win_allocate()))
        turn.directory = open_directory();
    if (turn.directory >= 0)
        window_lock(turn.directory, turn.threads);
    if (turn.threads)
        cco_service_all(true, comm);
    return turn;
}

static void end_turn(const struct turn *turn, MPI_Comm comm)
{
    if (turn->threads)
        cco_service_all(true, comm);
    if (turn->directory >= 0)
        close(turn->directory);
}

static int window_make(cco_window *w, size_t bytes, MPI_Comm comm, bool shared)
{
    void *base = NULL;
    const MPI_Aint whole = (MPI_Aint)((bytes + WHOLE - 1) / WHOLE * WHOLE);
    const struct turn turn = take_turn(comm);
    cco_held_signals held;
    cco_hold_signals(&held); /* the MPI makes a file */
    const int rc = shared ? cco_window_share(w, bytes, comm, &base)
                          : PMPI_Win_allocate(whole, 1, MPI_INFO_NULL, comm, &base, &w->win);
    cco_let_signals_go(&held);
    end_turn(&turn, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    w->area.kind = shared ? &cco_area_direct : &kind;
    w->area.share = base;
    w->area.bytes = bytes;
    PMPI_Comm_rank(comm, &w->area.rank);
    PMPI_Comm_size(comm, &w->area.size);
    return MPI_SUCCESS;
}

/* Windows of this process that are kept.  Each takes a communicator, and another inside of the MPI.
 */
enum { MOST = 64 };
static int kept;

/* Ranks of another world end at another time, and a session has no end that we know of: nobody
 * would free the window. */
static const char *may_keep(MPI_Comm comm)
{
    if (!cco_service_all(cco_in_world(comm), comm))
        return "its ranks are of several worlds, or of a session: windows would outlive them";
    if (!cco_service_all(__atomic_load_n(&kept, __ATOMIC_RELAXED) < MOST, comm))
        return "its ranks keep as many windows as they may";
    return NULL;
}

static void window_count(const cco_window *w, int change)
{
    if (w->life == CCO_WINDOW_KEPT)
        __atomic_fetch_add(&kept, change, __ATOMIC_RELAXED);
}

/* Makes a new one on a communicator of ours: errors on the program's are the program's. */
static const char *make_on_copy(cco_window *w, size_t bytes, MPI_Comm comm)
{
    const char *why = NULL;
    w->copy = cco_comm_copy(comm);
    if (w->copy == MPI_COMM_NULL)
        return "the MPI could not make a communicator";
    const bool made = window_make(w, bytes, w->copy, w->use == CCO_WINDOW_SHARED) == MPI_SUCCESS;
    if (!cco_service_all(made && !cco_inject_mismatch(), comm))
        why = "the MPI makes no window";
    else if (!cco_service_all(is_unified(w->win), comm))
        why = "windows of this MPI have separate memories";
    if (why != NULL && cco_service_all(w->win != MPI_WIN_NULL, comm))
        PMPI_Win_free(&w->win);
    if (why != NULL)
        PMPI_Comm_free(&w->copy);
    return why;
}

static const char *make_new(cco_window *w, size_t bytes, MPI_Comm comm)
{
    const char *why = w->life == CCO_WINDOW_KEPT ? may_keep(comm) : NULL;
    if (why == NULL && w->use != CCO_WINDOW_SHARED)
        why = cco_window_refused(comm);
    if (why == NULL && !cco_free_files(comm))
        why = CCO_NO_FREE_FILES;
    if (why == NULL)
        why = make_on_copy(w, bytes, comm);
    if (why != NULL) {
        free(w->area.shares);
        *w = (cco_window){.win = MPI_WIN_NULL};
        return why;
    }
    window_count(w, 1);
    w->number = cco_teardown_number(comm);
    return NULL;
}

/* A retired one, or a new one. */
const char *cco_window_make_bare(cco_window *w, size_t bytes, MPI_Comm comm, cco_window_use use,
                                 cco_window_life life)
{
    *w = (cco_window){.win = MPI_WIN_NULL, .use = use, .life = life};
    if (life != CCO_WINDOW_KEPT || !cco_window_pool_take(w, bytes, comm)) {
        const char *why = make_new(w, bytes, comm);
        if (why != NULL)
            return why;
    }
    w->area.comm = comm;
    w->held = false;
    w->turned_to = -1;
    return NULL;
}

const char *cco_window_make(cco_window *w, size_t bytes, size_t zero, MPI_Comm comm, bool share,
                            cco_window_life life)
{
    const cco_window_use use = share ? CCO_WINDOW_SHARED : CCO_WINDOW_LOCKED;
    const char *why = cco_window_make_bare(w, bytes, comm, use, life);
    if (why != NULL)
        return why;
    memset(w->area.share, 0, zero);
    if (!w->locked)
        w->locked = PMPI_Win_lock_all(MPI_MODE_NOCHECK, w->win) == MPI_SUCCESS;
    PMPI_Win_sync(w->win);
    cco_service_all(true, comm); /* nobody writes before all have come here */
    return NULL;
}

/* A call that failed may have left the window exposed to ranks that put nothing any more, and MPICH
 * waits for them in MPI_Win_free.  So each rank hears whether the one that it would put to next has
 * exposed it, and puts nothing. */
static void end_epochs(const cco_window *w)
{
    const int size = w->area.size;
    int rank, *next = calloc((size_t)size, sizeof *next);
    bool *exposed = calloc((size_t)size, sizeof *exposed), waits = false;
    MPI_Group all, one;
    if (next == NULL || exposed == NULL)
        cco_fatal("no memory to free a window");
    PMPI_Comm_rank(w->copy, &rank);
    cco_service_allgather(&w->turned_to, next, sizeof *next, w->copy);
    for (int i = 0; i < size && w->open != NULL; i++) {
        exposed[i] = w->open[i] && next[i] == rank;
        waits = w->open[i] || waits;
    }
    cco_service_allreduce(MPI_IN_PLACE, exposed, size, MPI_BYTE, MPI_BOR, w->copy);
    if (w->turned_to >= 0 && exposed[rank]) {
        PMPI_Win_get_group(w->win, &all);
        PMPI_Group_incl(all, 1, &w->turned_to, &one);
        PMPI_Win_start(one, 0, w->win);
        PMPI_Win_complete(w->win);
        PMPI_Group_free(&one);
        PMPI_Group_free(&all);
    }
    if (waits)
        PMPI_Win_wait(w->win);
    free(exposed);
    free(next);
}

static void window_end(void *what)
{
    cco_window *w = what;
    if (w->use == CCO_WINDOW_POSTED)
        end_epochs(w);
    free(w->open);
    if (w->locked)
        PMPI_Win_unlock_all(w->win);
    PMPI_Win_free(&w->win);
    PMPI_Comm_free(&w->copy);
    free(w->area.shares);
    window_count(w, -1);
    free(w);
}

void cco_window_free(cco_window *w)
{
    if (w->win == MPI_WIN_NULL || w->area.kind == NULL)
        return;
    cco_window *last = malloc(sizeof *last);
    if (last == NULL)
        cco_fatal("no memory to free a window");
    *last = *w;
    *w = (cco_window){0};
    cco_teardown(last->number, window_end, last);
}

void cco_window_retire(cco_window *w)
{
    if (w->win == MPI_WIN_NULL || w->area.kind == NULL)
        return;
    cco_window_pool_keep(w);
    *w = (cco_window){0};
}

void cco_windows_free(bool all)
{
    cco_window w;
    while (cco_window_pool_any(&w, all))
        cco_window_free(&w);
}
