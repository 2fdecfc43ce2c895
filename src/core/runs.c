/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.c - see runs.h. */
#include "core/runs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "core/run_list.h"

struct cco_runs {
    int users; /* types that have it */
    size_t bytes;
    MPI_Aint extent; /* from one element to the next */
    size_t count;
    cco_run_of runs[];
};

enum { ALL_BYTES = 4 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static size_t all; /* bytes of all types */
static cco_runs none; /* of types that have no runs; nobody counts its users */

static int share(MPI_Datatype type, int key, void *extra, void *attribute, void *copy, int *flag)
{
    cco_runs *runs = attribute;
    (void)type, (void)key, (void)extra;
    __atomic_fetch_add(&runs->users, 1, __ATOMIC_RELAXED);
    *(void **)copy = runs;
    *flag = 1;
    return MPI_SUCCESS;
}

static int let_go(MPI_Datatype type, int key, void *attribute, void *extra)
{
    cco_runs *runs = attribute;
    (void)type, (void)key, (void)extra;
    if (__atomic_sub_fetch(&runs->users, 1, __ATOMIC_ACQ_REL) == 0 && runs != &none) {
        __atomic_fetch_sub(&all, runs->bytes, __ATOMIC_RELAXED);
        free(runs);
    }
    return MPI_SUCCESS;
}

/* `none` if there is no room. */
static cco_runs *keep(const cco_run_list *list, MPI_Datatype type)
{
    const size_t bytes = sizeof(cco_runs) + list->count * sizeof *list->runs;
    MPI_Aint low, extent;
    if (__atomic_load_n(&all, __ATOMIC_RELAXED) + bytes > ALL_BYTES ||
        PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS)
        return &none;
    cco_runs *runs = malloc(bytes);
    if (runs == NULL)
        return &none;
    *runs = (cco_runs){.bytes = bytes, .extent = extent, .count = list->count};
    if (list->count > 0)
        memcpy(runs->runs, list->runs, list->count * sizeof *list->runs);
    __atomic_fetch_add(&all, bytes, __ATOMIC_RELAXED);
    return runs;
}

static const cco_runs *kept(MPI_Datatype type)
{
    void *found = NULL;
    int flag = 0;
    const int key = __atomic_load_n(&keyval, __ATOMIC_ACQUIRE);
    if (key == MPI_KEYVAL_INVALID || PMPI_Type_get_attr(type, key, &found, &flag) != MPI_SUCCESS)
        return NULL;
    return flag ? found : NULL;
}

/* With the lock: two threads must not put something else in the place of what one of them uses. */
static const cco_runs *find(MPI_Datatype type)
{
    cco_run_list list = {.runs = NULL};
    int made = MPI_KEYVAL_INVALID;
    const cco_runs *there = kept(type);
    if (there != NULL)
        return there;
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Type_create_keyval(share, let_go, &made, NULL) == MPI_SUCCESS)
        __atomic_store_n(&keyval, made, __ATOMIC_RELEASE);
    if (keyval == MPI_KEYVAL_INVALID)
        return &none;
    cco_runs *runs = cco_run_list_of(type, &list) ? keep(&list, type) : &none;
    free(list.runs);
    __atomic_fetch_add(&runs->users, 1, __ATOMIC_RELAXED);
    if (PMPI_Type_set_attr(type, keyval, runs) == MPI_SUCCESS)
        return runs;
    let_go(type, keyval, runs, NULL);
    return &none;
}

const cco_runs *cco_runs_of(MPI_Datatype type)
{
    const cco_runs *runs = kept(type);
    if (runs == NULL && !cco_type_predefined(type)) { /* which would keep it for ever */
        pthread_mutex_lock(&lock);
        runs = find(type);
        pthread_mutex_unlock(&lock);
    }
    return runs != &none ? runs : NULL;
}

void cco_runs_end(void)
{
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Type_free_keyval(&keyval);
}

/* Addresses are numbers: from MPI_BOTTOM on, and between the ends of a user's arrays. */
static inline void move(char *packed, uintptr_t at, size_t n, bool back)
{
    if (back)
        memcpy((char *)at, packed, n);
    else
        memcpy(packed, (const char *)at, n);
}

/* Runs of one length, so that it is a constant where it is short. */
static inline __attribute__((always_inline)) char *
move_each(char *packed, uintptr_t at, size_t n, size_t times, ptrdiff_t step, bool back)
{
    for (size_t i = 0; i < times; i++, packed += n, at += (uintptr_t)step)
        move(packed, at, n, back);
    return packed;
}

static inline __attribute__((always_inline)) char *
move_run(char *packed, uintptr_t at, const cco_run_of *r, bool back)
{
    switch (r->bytes) {
    case 4:
        return move_each(packed, at, 4, r->times, r->step, back);
    case 8:
        return move_each(packed, at, 8, r->times, r->step, back);
    case 16:
        return move_each(packed, at, 16, r->times, r->step, back);
    case 32:
        return move_each(packed, at, 32, r->times, r->step, back);
    case 64:
        return move_each(packed, at, 64, r->times, r->step, back);
    default:
        return move_each(packed, at, r->bytes, r->times, r->step, back);
    }
}

/* The run of `count` elements with a single one, if that is one too. */
static bool as_one(const cco_runs *runs, size_t count, cco_run_of *one)
{
    if (runs->count != 1)
        return false;
    *one = runs->runs[0];
    if (count == 1)
        return true;
    if (one->times == 1 && runs->extent == (MPI_Aint)one->bytes) {
        one->bytes *= count;
        return true;
    }
    if (one->times > 1 && runs->extent != (MPI_Aint)one->times * one->step)
        return false;
    one->step = one->times == 1 ? runs->extent : one->step;
    one->times *= count;
    return true;
}

static inline __attribute__((always_inline)) void move_all(const cco_runs *runs, char *packed,
                                                           uintptr_t at, size_t count, bool back)
{
    cco_run_of one;
    if (as_one(runs, count, &one)) {
        move_run(packed, at + (uintptr_t)one.at, &one, back);
        return;
    }
    for (size_t i = 0; i < count; i++, at += (uintptr_t)runs->extent)
        for (size_t k = 0; k < runs->count; k++) {
            const cco_run_of *r = &runs->runs[k];
            packed = move_run(packed, at + (uintptr_t)r->at, r, back);
        }
}

void cco_runs_pack(const cco_runs *runs, char *to, const void *from, size_t count)
{
    move_all(runs, to, (uintptr_t)from, count, false);
}

void cco_runs_unpack(const cco_runs *runs, void *to, const char *from, size_t count)
{
    move_all(runs, (char *)(uintptr_t)from, (uintptr_t)to, count, true);
}
