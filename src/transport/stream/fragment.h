/* SPDX-License-Identifier: BSD-3-Clause */
/* fragment.h - the messages of a round, for transports that move them piece by piece through
 * memory: what is left of each, and its data as bytes in a row. */
#ifndef CCO_FRAGMENT_H
#define CCO_FRAGMENT_H

#include "call/unlike.h"
#include "sched/transport.h"
#include "transport/stream/area.h"

/* A message that is not through yet.  Before its data comes its head: of which call it is, the
 * bytes of both (call/stamp.h), and the number of the schedule.  The receiver has the same, or the
 * ranks make calls that do not match, and it takes no data. */
typedef struct cco_fragment {
    int peer; /* -1: it is through */
    bool sends, moved;
    bool headed; /* its head has gone, or come */
    uint64_t head;
    char *at; /* what is left of it */
    size_t left;
    char *packed; /* data with gaps; NULL if it has none */
    cco_data data;
} cco_fragment;

/* A transfer of such a transport. */
typedef struct cco_fragments {
    void *shared;
    cco_area *area;  /* of begin */
    int count, done; /* messages started, and how many of them are through */
    int first, last; /* those before the first are, and those from the last on: stream.c */
    unsigned asked;  /* peers so far after whose processes a long wait has looked */
    uint64_t number; /* twice that of the schedule: one more when it has ended */
    uint64_t call;   /* its stamp, with the number of the schedule; */
    uint64_t head;   /* what heads of messages have of both */
    cco_fragment list[];
} cco_fragments;

/* Packs data with gaps, on their way out.  For what follows. */
int cco_fragment_pack(cco_fragment *fragment);

/* Starts a message.  Inline: a round has one for each neighbor. */
static inline int cco_fragment_start(cco_fragments *fragments, int peer, const cco_data *data,
                                     bool sends)
{
    cco_fragment *one = &fragments->list[fragments->count];
    one->peer = peer;
    one->sends = sends;
    one->moved = one->headed = false;
    one->at = data->at;
    one->left = cco_data_bytes(data);
    one->head = fragments->head + cco_stamp_bytes(one->left);
    one->packed = NULL;
    one->data = *data;
    const int rc = data->layout->dense ? MPI_SUCCESS : cco_fragment_pack(one);
    if (data->layout->dense || one->packed != NULL)
        fragments->last = ++fragments->count;
    return rc;
}

/* For the table of the transport.  A schedule begins, by its number; this rank's own line of the
 * area says so, and when it ends.  Without an area nothing says it. */
void *cco_fragments_open(void *shared, int messages);
void cco_fragments_stamp(void *fragments, uint64_t stamp);
void cco_fragments_begin(cco_fragments *fragments, cco_area *area, uint64_t number);
void cco_fragments_end(void *fragments);
void cco_fragments_drop(void *fragments); /* forgets what is under way */

static inline int cco_fragments_recv(void *fragments, int peer, const cco_data *to)
{
    return cco_fragment_start(fragments, peer, to, false);
}

static inline int cco_fragments_send(void *fragments, int peer, const cco_data *from)
{
    return cco_fragment_start(fragments, peer, from, true);
}

/* True if all messages of the round are through; the next round may start its own then. */
static inline bool cco_fragments_done(cco_fragments *fragments)
{
    if (fragments->done != fragments->count)
        return false;
    fragments->count = fragments->done = fragments->first = fragments->last = 0;
    return true;
}

/* For the table, too: whether one of them is through. */
int cco_fragments_over(void *fragments, int number, bool *over);

/* What moved of it; the fragment is through if that was all.  Returns MPI_SUCCESS or an MPI error
 * class. */
int cco_fragment_check(cco_fragments *fragments, cco_fragment *fragment);

/* cco_fragment_check for a fragment of which nothing is left. */
static inline int cco_fragment_end(cco_fragments *fragments, cco_fragment *fragment)
{
    if (fragment->packed != NULL)
        return cco_fragment_check(fragments, fragment);
    fragment->peer = -1;
    fragments->done++;
    return MPI_SUCCESS;
}

/* The head that has come is not that of the message.  Returns an MPI error class; `unlike` keeps
 * the first. */
int cco_fragment_differs(const cco_fragments *fragments, const cco_fragment *fragment,
                         uint64_t head, int rank, cco_unlike *unlike);

/* Whether a peer has ended this schedule, come to a later one, or makes another call: `there`. */
bool cco_fragments_passed(const cco_fragments *fragments, int peer, uint64_t *there);

/* A rank makes another call: its stamp, with the number of the schedule.  Returns what
 * cco_fragment_differs returns. */
int cco_fragments_elsewhere(const cco_fragments *fragments, uint64_t there, int rank,
                            cco_unlike *unlike);

/* Where each message has a place of its own with its receiver, its head lies in front of the first
 * piece, in as many bytes as keep the piece aligned. */
enum { CCO_FRAGMENT_HEAD = 64 };

/* Takes the next piece from such a place, and compares the head in front of the first.  Returns
 * MPI_SUCCESS or an MPI error class. */
int cco_fragment_take(cco_fragments *fragments, cco_fragment *fragment, const char *slot,
                      size_t most, cco_unlike *unlike);

/* Whose turn it is: the messages between two ranks go one after the other in each direction. */
typedef struct cco_turns {
    unsigned *seen; /* twice the number of ranks: the pass in which a direction had its turn */
    unsigned pass;  /* over a list of fragments; add one before each */
} cco_turns;

bool cco_turns_make(cco_turns *turns, int ranks); /* false when memory runs out */
void cco_turns_free(cco_turns *turns);

/* True for the first fragment of its direction in this pass, if that is `sends`. */
bool cco_turns_has(cco_turns *turns, const cco_fragment *fragment, bool sends);

/* Bytes of its next piece. */
static inline size_t cco_fragment_part(const cco_fragment *fragment, size_t most)
{
    return fragment->left < most ? fragment->left : most;
}

static inline void cco_fragment_advance(cco_fragment *fragment, size_t n)
{
    fragment->at += n;
    fragment->left -= n;
}

#endif
