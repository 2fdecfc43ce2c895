/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h - where messages of ours pass: tags of our own on a communicator of our own, of the
 * same ranks in the same order as the program's.
 *
 * MPIs have room for few communicators (MPICH: 2048), and programs use them up.  So communicators
 * of one ordered group share one of ours, and each has a range of tags there.  Only messages with
 * tags pass, never collectives: threads may use two communicators of a group at once, in another
 * order on other ranks. */
#ifndef CCO_CHANNEL_H
#define CCO_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"

enum {
    CCO_CHANNEL_TAGS = 256, /* of blocking calls, two each; then of exchanges and the service */
    CCO_CHANNEL_CALLS = CCO_CHANNEL_TAGS / 2 - 3, /* pairs; then two, and one of the service */
    CCO_CHANNEL_PAIRS = 16384, /* of tags, for so many begins under way at once */
    CCO_CHANNEL_WORDS = 4      /* by which ranks agree on a channel */
};

struct cco_carrier; /* a communicator of ours */

typedef struct cco_channel {
    MPI_Comm comm;      /* errors on it are returned; MPI_COMM_NULL: there is no channel */
    int tags;           /* the first of CCO_CHANNEL_TAGS */
    int pairs;          /* the first of CCO_CHANNEL_PAIRS pairs; 0: this MPI has too few tags */
    unsigned turn;      /* of the next blocking call, which goes round, equal on all ranks; */
    unsigned exchanges; /* so far, likewise */
    bool broken; /* a message may be on its way that nobody takes: nobody else gets the tags, */
    bool failed; /* a process has: it is used for nothing any more, */
    bool spent;  /* nor do more blocking calls of this communicator */
    struct cco_carrier *carrier;
    int number;  /* there */
    bool begins; /* from before it is opened: calls are begun, and none is blocking */
    int codes;   /* by which tags tell calls of a collective, or begins, apart; below 1: none */
} cco_channel;

/* Gives a communicator a channel; collective over it.  True on all ranks, or false on all: the MPI
 * refuses to make a communicator.  False also on a rank that has found out that one has failed. */
bool cco_channel_open(cco_channel *channel, MPI_Comm comm);

/* Opens a channel within an allreduce that the ranks make anyway, if one is there that was used
 * before.  The offer writes `words`, which the allreduce combines by MPI_BOR.  Then all ranks
 * accept what came out: true on all, or on none.  In between nothing waits for another
 * communicator. */
struct cco_carrier *cco_channel_offer(MPI_Comm comm, uint64_t words[CCO_CHANNEL_WORDS]);
bool cco_channel_accept(cco_channel *channel, struct cco_carrier *offered,
                        const uint64_t all[CCO_CHANNEL_WORDS]);

/* A number that no other communicator has, and that is the same on all ranks of the carrier. */
uint64_t cco_channel_carrier(const cco_channel *channel);

/* The first of two tags for a blocking call; all ranks count all calls, also those that fail before
 * anything is sent.  -1 when the tags come round, and a message may wait under one of them that
 * nobody takes. */
int cco_channel_call(cco_channel *channel);

/* cco_channel_call in two steps: true while the tags do not come round now and none is spent; then
 * the first of the two tags. */
static inline bool cco_channel_goes_on(const cco_channel *channel)
{
    return channel->turn != 0 && !channel->spent;
}

static inline int cco_channel_next(cco_channel *channel)
{
    const unsigned turn = channel->turn;
    channel->turn = turn + 1 < CCO_CHANNEL_CALLS ? turn + 1 : 0;
    return channel->tags + 2 * (int)turn;
}

/* What the tags of a call have more, by its stamp (call/stamp.h): messages of calls whose
 * collectives, roots or bytes differ do not meet, begun ones seldom.  0: the MPI has few tags. */
int cco_channel_offset(const cco_channel *channel, uint64_t stamp);

/* Whether a tag is one of a blocking call of this channel: its stamp, as far as a tag has it, with
 * the number of the call.  A root that may be that of `mine` is taken to be that.  Or of a begun
 * call with the number that the tag `here` has: a stamp that says nothing of it, but is not 0. */
bool cco_channel_reads(const cco_channel *channel, int tag, int here, uint64_t mine,
                       uint64_t *stamp);

/* The first of two tags for an exchange, which receives from any rank: no call has these tags.  Two
 * exchanges in a row have different ones, and no rank is two exchanges ahead of another.  -1 once
 * the channel is spent. */
int cco_channel_exchange(cco_channel *channel);

/* The first of two tags for a begin, the `number`th on all ranks; -1 as for a blocking call. */
int cco_channel_begin(cco_channel *channel, unsigned number);

/* The tag of mpi/service.h, which no call has. */
static inline int cco_channel_service(const cco_channel *channel)
{
    return channel->tags + CCO_CHANNEL_TAGS - 2;
}

/* This rank does not know how many calls the others have counted: there are no more, also if the
 * channel comes only later. */
void cco_channel_lose(cco_channel *channel);

/* A process of its ranks has failed, or calls do not match, and this rank uses it no more: others
 * learn of that, by MPIX_Comm_revoke, or else by a message to each with the class of the error. */
void cco_channel_fail(cco_channel *channel, int error);

/* The error of such a message, from `rank` or MPI_ANY_SOURCE; MPI_SUCCESS if none has come. */
int cco_channel_noticed(const cco_channel *channel, int rank);

/* Lets go of it; local, ranks may do so at any time.  No operation of this rank is under way. */
void cco_channel_close(cco_channel *channel);

/* A communicator of the same ranks, without their attributes, on which errors are returned;
 * collective.  MPI_COMM_NULL on all ranks if the MPI refuses, of which the program's error handler
 * is not told. */
MPI_Comm cco_comm_copy(MPI_Comm comm);

#endif
