/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.c - see slices.h. */
#include "transport/caf/slices.h"

#include <sched.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/wait.h"

typedef struct leaving {
    cco_slice slice;
    const uint32_t *left;
    int ranks;
    struct leaving *next;
} leaving;

enum { TRIES = 1000 };

static uint64_t taken;    /* bit per block */
static leaving *leavings; /* left by this rank, perhaps not by all */
static int claimed;       /* by a thread, all of the above */

static bool claim(void)
{
    return !__atomic_exchange_n(&claimed, 1, __ATOMIC_ACQUIRE);
}

static void unclaim(void)
{
    __atomic_store_n(&claimed, 0, __ATOMIC_RELEASE);
}

static uint64_t bits(cco_slice slice)
{
    const uint64_t run = slice.blocks < CCO_BLOCKS ? (UINT64_C(1) << slice.blocks) - 1 : UINT64_MAX;
    return run << slice.first;
}

static bool all_left(const leaving *l)
{
    for (int i = 0; i < l->ranks; i++)
        if (__atomic_load_n(&l->left[i], __ATOMIC_ACQUIRE) == 0)
            return false;
    return true;
}

/* Frees the blocks of what all have left. */
static void reap(void)
{
    for (leaving **at = &leavings; *at != NULL;) {
        leaving *l = *at;
        if (!all_left(l)) {
            at = &l->next;
            continue;
        }
        taken &= ~bits(l->slice);
        *at = l->next;
        free(l);
    }
}

/* The first run of as many blocks as can be had; the same wherever `vacant` is. */
static cco_slice choose(uint64_t vacant, int least, int most)
{
    for (int blocks = most; blocks >= least; blocks--)
        for (int first = 0; first + blocks <= CCO_BLOCKS; first++) {
            const cco_slice slice = {first, blocks};
            if ((bits(slice) & ~vacant) == 0)
                return slice;
        }
    return (cco_slice){0, 0};
}

static bool combine(uint64_t words[2], MPI_Comm comm)
{
    uint64_t all[2] = {0, 0};
    MPI_Request request;
    if (PMPI_Iallreduce(words, all, 2, MPI_UINT64_T, MPI_BAND, comm, &request) != MPI_SUCCESS ||
        cco_wait(&request) != MPI_SUCCESS)
        return false;
    words[0] = all[0];
    words[1] = all[1];
    return true;
}

/* Threads take slices for several communicators at once, in another order on other ranks: to wait
 * for each other would be to wait for ever.  A thread that finds another at it says so, and all
 * ranks of its communicator try again. */
cco_slice cco_slice_take(int least, int most, bool ready, MPI_Comm comm)
{
    enum { READY = 1, ALONE = 2 };
    cco_slice slice = {0, 0};
    for (int i = 0; i < TRIES; i++) {
        const bool alone = claim();
        if (alone && ready)
            reap();
        uint64_t words[2] = {alone ? ~taken : 0, (ready ? READY : 0) | (alone ? ALONE : 0)};
        const bool agreed = combine(words, comm);
        const bool go = agreed && words[1] == (READY | ALONE);
        if (go)
            slice = choose(words[0], least, most);
        if (go && slice.blocks > 0)
            taken |= bits(slice);
        if (alone)
            unclaim();
        if (go || !agreed || !(words[1] & READY))
            break;
        sched_yield();
    }
    return slice;
}

void cco_slice_leave(cco_slice slice, const uint32_t *left, int ranks)
{
    leaving *l = malloc(sizeof *l);
    if (l == NULL)
        return; /* the blocks are lost */
    *l = (leaving){slice, left, ranks, NULL};
    while (!claim())
        sched_yield();
    l->next = leavings;
    leavings = l;
    unclaim();
}
