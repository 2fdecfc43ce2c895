/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c - see channel.h. */
#include "comm/channel.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/service.h"
#include "comm/teardown.h"
#include "base/log.h"
#include "call/stamp.h"
#include "mpi/ulfm.h"
#include "base/watch.h"

enum { CHANNELS = 128, WORDS = CHANNELS / 64 };
/* From STAMPED on, tags with an offset for each code.  Those of begins go on for BLOCKS spans, each
 * with so many numbers of begins, and one code is left out: by 29 and 253 more sizes have other
 * remainders than by 31 and 255. */
enum { SPAN = CHANNELS * CCO_CHANNEL_TAGS, STAMPED = SPAN + CHANNELS * 2 * CCO_CHANNEL_PAIRS };
enum { NUMBERS = 64, BLOCKS = CCO_CHANNEL_PAIRS / NUMBERS };
_Static_assert(WORDS + 2 == (int)CCO_CHANNEL_WORDS, "the words of an offer");

typedef struct cco_carrier {
    MPI_Comm comm;
    uint64_t number;      /* the same on all of its ranks, and no other has it */
    uint64_t free[WORDS]; /* bit per channel */
    int used;             /* channels */
    int rank, size;
    bool taken;  /* a thread agrees on a channel of it */
    bool broken; /* one of its channels was */
    bool failed; /* one of its processes has */
    struct cco_carrier *next;
} carrier;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static carrier *carriers;

MPI_Comm cco_comm_copy(MPI_Comm comm)
{
    MPI_Comm made;
    const bool there = cco_service_copy(comm, &made) == MPI_SUCCESS && made != MPI_COMM_NULL;
    if (cco_service_all(there, comm))
        return made;
    if (there) {
        cco_ulfm_revoke(made); /* others may have learned that all have it, and wait there */
        PMPI_Comm_free(&made);
    }
    return MPI_COMM_NULL;
}

/* Tags that this MPI has, where the standard promises to say so: MPI_COMM_WORLD, and communicators
 * of sessions. */
static int tags_of(MPI_Comm comm)
{
    int *value = NULL, found = 0, world = 0;
    PMPI_Initialized(&world);
    const MPI_Comm from = world ? MPI_COMM_WORLD : comm;
    return PMPI_Comm_get_attr(from, MPI_TAG_UB, &value, &found) == MPI_SUCCESS && found
               ? *value
               : SPAN - 1; /* every MPI has so many */
}

static void channel_place(cco_channel *channel, carrier *c, int number)
{
    const int span = 2 * CCO_CHANNEL_PAIRS, tags = tags_of(c->comm);
    const bool room = (tags - SPAN) / span > number;
    *channel = (cco_channel){.comm = c->comm,
                             .tags = number * CCO_CHANNEL_TAGS,
                             .pairs = room ? SPAN + number * span : 0,
                             .begins = channel->begins,
                             .codes = channel->begins ? (tags - STAMPED) / SPAN / BLOCKS - 1
                                                      : (tags - STAMPED) / SPAN / CCO_COLLECTIVES,
                             .broken = channel->broken,
                             .spent = channel->spent,
                             .carrier = c,
                             .number = number};
}

/* Gives the lock back, and frees the carrier if nobody needs it any more.  Then it has no lock:
 * MPI_Comm_free may do anything.  Where a message may be on its way that nobody takes, the
 * communicator stays: an MPI may give its number to another one (MPICH does), which would get the
 * message. */
static void channel_unlock(carrier *c)
{
    const bool last = c->used == 0 && !c->taken;
    carrier **link = &carriers;
    while (last && *link != c)
        link = &(*link)->next;
    if (last)
        *link = c->next;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    if (!c->broken || (c->failed && cco_ulfm())) /* revoked: no message comes from there */
        PMPI_Comm_free(&c->comm);
    free(c);
}

static bool has_free(const carrier *c)
{
    for (int i = 0; i < WORDS; i++)
        if (c->free[i] != 0)
            return true;
    return false;
}

/* The oldest one for a communicator, which is this thread's until `settle`: two threads that agreed
 * on channels of one carrier at once could get the same. */
static carrier *channel_reserve(MPI_Comm comm)
{
    carrier *found = NULL;
    int rank, size, same;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    pthread_mutex_lock(&lock);
    for (carrier *c = carriers; c != NULL; c = c->next)
        if (!c->taken && !c->failed && c->rank == rank && c->size == size && has_free(c) &&
            PMPI_Comm_compare(comm, c->comm, &same) == MPI_SUCCESS && same == MPI_CONGRUENT)
            found = c;
    if (found != NULL)
        found->taken = true;
    pthread_mutex_unlock(&lock);
    return found;
}

/* The carrier gives a channel, or none if `number` is negative. */
static void channel_settle(carrier *c, int number)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&lock);
    c->taken = false;
    if (number >= 0) {
        c->free[number / 64] &= ~((uint64_t)1 << number % 64);
        c->used++;
    }
    channel_unlock(c);
}

carrier *cco_channel_offer(MPI_Comm comm, uint64_t words[CCO_CHANNEL_WORDS])
{
    carrier *mine = channel_reserve(comm);
    words[0] = mine != NULL ? mine->number : 0;
    words[1] = ~words[0];
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WORDS; i++)
        words[2 + i] = mine != NULL ? ~mine->free[i] : UINT64_MAX;
    pthread_mutex_unlock(&lock);
    return mine;
}

/* The first channel that is free on all ranks, if all have reserved the same carrier; else -1. */
static int channel_common(const uint64_t all[CCO_CHANNEL_WORDS])
{
    if (all[0] != ~all[1] || all[0] == 0)
        return -1;
    for (int i = 0; i < CHANNELS; i++)
        if (!(all[2 + i / 64] >> i % 64 & 1))
            return i;
    return -1;
}

bool cco_channel_accept(cco_channel *channel, carrier *mine, const uint64_t all[CCO_CHANNEL_WORDS])
{
    const int number = channel_common(all);
    channel_settle(mine, number);
    if (number >= 0)
        channel_place(channel, mine, number);
    return number >= 0;
}

/* One of a carrier that is there; false on all ranks if there is none for them. */
static bool channel_agree(cco_channel *channel, MPI_Comm comm, int *rc)
{
    uint64_t words[CCO_CHANNEL_WORDS], all[CCO_CHANNEL_WORDS] = {0};
    carrier *mine = cco_channel_offer(comm, words);
    *rc = cco_service_allreduce(words, all, CCO_CHANNEL_WORDS, MPI_UINT64_T, MPI_BOR, comm);
    if (*rc != MPI_SUCCESS)
        memset(all, 0, sizeof all);
    return cco_channel_accept(channel, mine, all);
}

/* With its first channel taken; NULL on all ranks if the MPI refuses. */
static carrier *channel_make(MPI_Comm comm)
{
    const MPI_Comm copy = cco_comm_copy(comm);
    if (copy == MPI_COMM_NULL)
        return NULL;
    carrier *c = calloc(1, sizeof *c);
    if (c == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a communicator");
    *c = (carrier){.comm = copy, .number = cco_teardown_number(comm), .used = 1};
    memset(c->free, 0xff, sizeof c->free);
    c->free[0] &= ~(uint64_t)1;
    PMPI_Comm_rank(copy, &c->rank);
    PMPI_Comm_size(copy, &c->size);
    pthread_mutex_lock(&lock);
    c->next = carriers;
    carriers = c;
    pthread_mutex_unlock(&lock);
    return c;
}

bool cco_channel_open(cco_channel *channel, MPI_Comm comm)
{
    int rc;
    if (channel_agree(channel, comm, &rc) || rc != MPI_SUCCESS)
        return rc == MPI_SUCCESS;
    carrier *c = channel_make(comm);
    if (c != NULL)
        channel_place(channel, c, 0);
    return c != NULL;
}

static bool is_broken(const cco_channel *channel)
{
    return __atomic_load_n(&channel->broken, __ATOMIC_RELAXED);
}

int cco_channel_call(cco_channel *channel)
{
    channel->spent = channel->spent || (channel->turn == 0 && is_broken(channel));
    const int tag = cco_channel_next(channel);
    return channel->spent ? -1 : tag;
}

/* How many roots the codes of a collective tell apart: all of them where there are few ranks.  What
 * is left tells bytes apart. */
static int channel_roots(const cco_channel *channel, unsigned coll)
{
    enum { PART = 16 };
    const int most = channel->codes / PART + 1, size = channel->carrier->size;
    const bool rooted = cco_coll_infos[coll].properties & CCO_ROOTED;
    return !rooted ? 1 : size < most ? size : most;
}

/* Sizes that differ by a power of two have other remainders of an odd number. */
int cco_channel_offset(const cco_channel *channel, uint64_t stamp)
{
    const unsigned coll = cco_stamp_coll(stamp) - 1;
    if (coll >= CCO_COLLECTIVES || channel->codes <= 0)
        return 0;
    if (channel->begins)
        return STAMPED +
               (int)((stamp >> CCO_STAMP_COLL_AT) % (unsigned)((channel->codes - 1) | 1)) * BLOCKS *
                   SPAN;
    const int roots = channel_roots(channel, coll), root = (int)cco_stamp_root(stamp) % roots;
    const int sizes = (channel->codes / roots - 1) | 1;
    const int bytes = (int)((stamp >> CCO_STAMP_BYTES_AT) % (unsigned)sizes);
    return STAMPED + ((bytes * roots + root) * CCO_COLLECTIVES + (int)coll) * SPAN;
}

bool cco_channel_reads(const cco_channel *channel, int tag, int here, uint64_t mine,
                       uint64_t *stamp)
{
    const int in = (tag - STAMPED) % SPAN - channel->tags, code = (tag - STAMPED) / SPAN;
    if (tag < STAMPED || in < 0 || in >= CCO_CHANNEL_TAGS ||
        (channel->begins && (tag - here) % (BLOCKS * SPAN) != 0))
        return false;
    const unsigned coll = (unsigned)code % CCO_COLLECTIVES;
    const int roots = channel_roots(channel, coll), own = (int)cco_stamp_root(mine);
    const int root = code / CCO_COLLECTIVES % roots;
    *stamp = cco_stamp((cco_coll)coll, root == own % roots ? own : root, 0) | CCO_STAMP_UNSIZED |
             (unsigned)in / 2;
    return true;
}

int cco_channel_exchange(cco_channel *channel)
{
    const int pair = CCO_CHANNEL_CALLS + (int)(channel->exchanges++ % 2);
    return channel->spent ? -1 : channel->tags + 2 * pair;
}

int cco_channel_begin(cco_channel *channel, unsigned number)
{
    const unsigned turn = number % CCO_CHANNEL_PAIRS;
    channel->spent = channel->spent || (turn == 0 && is_broken(channel));
    if (channel->spent || channel->codes <= 0)
        return channel->spent ? -1 : channel->pairs + 2 * (int)turn;
    return channel->tags + (int)(turn / NUMBERS) * SPAN + 2 * (int)(turn % NUMBERS);
}

void cco_channel_lose(cco_channel *channel)
{
    channel->broken = channel->spent = true;
}

static int notice_tag(const cco_channel *channel)
{
    return channel->tags + CCO_CHANNEL_TAGS - 1;
}

/* Messages that wait for nobody.  Their length is the class of the error. */
static void notify_all(const cco_channel *channel, int error)
{
    static const char bytes[128];
    const carrier *c = channel->carrier;
    for (int rank = 0; rank < c->size; rank++) {
        MPI_Request request;
        if (rank != c->rank && !cco_watch_ended(c->comm, rank) &&
            PMPI_Isend(bytes, error % (int)sizeof bytes, MPI_BYTE, rank, notice_tag(channel),
                       c->comm, &request) == MPI_SUCCESS)
            PMPI_Request_free(&request);
    }
}

void cco_channel_fail(cco_channel *channel, int error)
{
    if (channel->comm == MPI_COMM_NULL || channel->failed)
        return;
    cco_channel_lose(channel);
    channel->failed = channel->carrier->failed = true;
    if (cco_ulfm())
        cco_ulfm_revoke(channel->comm);
    else
        notify_all(channel, error);
}

int cco_channel_noticed(const cco_channel *channel, int rank)
{
    int here = 0, error = MPI_SUCCESS;
    MPI_Status status;
    if (!cco_ulfm() &&
        PMPI_Iprobe(rank, notice_tag(channel), channel->comm, &here, &status) == MPI_SUCCESS &&
        here)
        PMPI_Get_count(&status, MPI_BYTE, &error);
    return error;
}

uint64_t cco_channel_carrier(const cco_channel *channel)
{
    return channel->carrier->number;
}

/* A message of a call that this rank has not made: the next communicator must not take it. */
static bool channel_has_rest(const cco_channel *channel)
{
    uint64_t stamp;
    int here = 0;
    MPI_Status status;
    return PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channel->comm, &here, &status) == MPI_SUCCESS &&
           here && cco_channel_reads(channel, status.MPI_TAG, status.MPI_TAG, 0, &stamp);
}

void cco_channel_close(cco_channel *channel)
{
    carrier *c = channel->carrier;
    if (channel->comm == MPI_COMM_NULL)
        return;
    channel->broken = channel->broken || channel_has_rest(channel);
    pthread_mutex_lock(&lock);
    if (is_broken(channel))
        c->broken = true;
    else
        c->free[channel->number / 64] |= (uint64_t)1 << channel->number % 64;
    c->used--;
    channel_unlock(c);
    *channel = (cco_channel){.comm = MPI_COMM_NULL};
}
