/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_window.c - see shared_window.h. */
#include "window/shared_window.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "comm/facts.h"
#include "base/node_key.h"
#include "mpi/service.h"
#include "mpi/mpi_behavior.h"
#include "window/own_maps.h"

_Thread_local cco_shared_window_last cco_shared_window_looked_up
    __attribute__((tls_model("initial-exec")));
uint64_t cco_shared_window_changes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int key = MPI_KEYVAL_INVALID;

/* Where a rank has its memory, for the others. */
typedef struct place {
    uint64_t device, inode, offset; /* in this file; inode 0: it has no memory */
    uint64_t size;
    int64_t unit;
} place;

static void shared_window_changed(void)
{
    __atomic_add_fetch(&cco_shared_window_changes, 1, __ATOMIC_RELEASE);
}

static int shared_window_let_go(MPI_Win win, int keyval, void *attribute, void *extra)
{
    (void)win, (void)keyval, (void)extra;
    cco_shared_window *w = attribute;
    shared_window_changed();
    cco_segment_free(&w->segment);
    free(w);
    return MPI_SUCCESS;
}

/* Nobody copies a window. */
static int shared_window_not_copied(MPI_Win win, int keyval, void *extra, void *attribute,
                                    void *copy, int *copied)
{
    (void)win, (void)keyval, (void)extra, (void)attribute, (void)copy;
    *copied = 0;
    return MPI_SUCCESS;
}

static bool have_key(void)
{
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Win_create_keyval(shared_window_not_copied, shared_window_let_go, &key, NULL) !=
            MPI_SUCCESS)
        key = MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&lock);
    return key != MPI_KEYVAL_INVALID;
}

cco_shared_window *cco_shared_window_look_up(MPI_Win win)
{
    cco_shared_window *w = NULL;
    int there = 0;
    const uint64_t changes = __atomic_load_n(&cco_shared_window_changes, __ATOMIC_ACQUIRE);
    if (win == MPI_WIN_NULL || PMPI_Win_get_attr(win, key, &w, &there) != MPI_SUCCESS || !there)
        w = NULL;
    cco_shared_window_looked_up = (cco_shared_window_last){win, w, changes};
    return w;
}

static void *attribute_of(MPI_Win win, int which)
{
    void *value = NULL;
    int there = 0;
    return PMPI_Win_get_attr(win, which, &value, &there) == MPI_SUCCESS && there ? value : NULL;
}

/* False if others cannot find this rank's memory, or epochs do not begin at once with it. */
static bool find_place(MPI_Win win, place *p)
{
    const MPI_Aint *size = attribute_of(win, MPI_WIN_SIZE);
    const int *unit = attribute_of(win, MPI_WIN_DISP_UNIT);
    const char *base = attribute_of(win, MPI_WIN_BASE);
    cco_own_map map;
    *p = (place){.unit = 1};
    if (size == NULL || unit == NULL || cco_inject_mismatch())
        return false;
    p->size = (uint64_t)*size;
    p->unit = *unit;
    if (p->size == 0)
        return true;
    if (!cco_own_map_at(base, &map) || !cco_epochs_begin_at_once(map.name))
        return false;
    p->device = map.device;
    p->inode = map.inode;
    p->offset = map.offset + ((uintptr_t)base - map.begin);
    return true;
}

/* Whether all ranks can, and have their memory in one file of one node: as a maximum over ranks of
 * a hash and of its complement, so that no rank need know the others yet. */
static bool one_file(bool can, const place *p, MPI_Comm comm)
{
    uint64_t mine[3] = {0, 0, !can}, most[3];
    const uint64_t node = cco_node_key();
    if (node == 0)
        mine[2] = 1;
    if (p->inode != 0) {
        mine[0] = (node ^ p->device * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u + p->inode;
        mine[1] = ~mine[0];
    }
    if (cco_service_allreduce(mine, most, 3, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        return false;
    return most[2] == 0 && most[0] == ~most[1];
}

/* The memory of all ranks as it lies in this process. */
static bool find_shares(cco_shared_window *w, const place *places)
{
    bool all = true;
    cco_own_map map = {.end = 0};
    for (int i = 0; i < w->ranks && all; i++) {
        const place *p = &places[i];
        w->shares[i] = (cco_window_share){.size = (size_t)p->size, .unit = (MPI_Aint)p->unit};
        if (p->size != 0)
            w->shares[i].base = cco_own_map_find(p->device, p->inode, p->offset, p->size, &map);
        all = p->size == 0 || w->shares[i].base != NULL;
    }
    return all;
}

static cco_shared_window *shared_window_make(const place *mine, MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    place *places = malloc((size_t)ranks * sizeof *places);
    cco_shared_window *w = calloc(1, sizeof *w + (size_t)ranks * sizeof *w->shares);
    bool good = cco_service_all(places != NULL && w != NULL, comm);
    if (good)
        good = cco_service_allgather(mine, places, sizeof *mine, comm) == MPI_SUCCESS;
    if (good) {
        w->ranks = ranks;
        good = find_shares(w, places);
    }
    free(places);
    if (good)
        return w;
    free(w);
    return NULL;
}

/* The locks, in the first share of a segment; its ranks agree on whether there is one. */
static bool make_locks(cco_segment *segment, int ranks, MPI_Comm comm)
{
    const size_t bytes = (size_t)ranks * sizeof(cco_element_lock);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    const cco_segment_part part = {1, 0, rank == 0 ? bytes : 0};
    return cco_segment_make_parts(segment, bytes, SIZE_MAX, &part, comm);
}

bool cco_shared_window_adopt(MPI_Win win, MPI_Comm comm, bool reaches)
{
    place mine;
    const bool can = find_place(win, &mine) && reaches && have_key();
    if (!one_file(can, &mine, comm))
        return false;
    cco_shared_window *w = shared_window_make(&mine, comm);
    const bool locked = cco_service_all(w != NULL, comm) && make_locks(&w->segment, w->ranks, comm);
    const bool kept = locked && PMPI_Win_set_attr(win, key, w) == MPI_SUCCESS;
    const bool all = locked && cco_service_all(kept, comm);
    if (all) {
        w->locks = (cco_element_lock *)(void *)w->segment.memory;
        shared_window_changed();
    } else if (kept) {
        PMPI_Win_delete_attr(win, key); /* and frees it */
    } else if (w != NULL) {
        cco_segment_free(&w->segment);
        free(w);
    }
    return all;
}
