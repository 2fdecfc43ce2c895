/* SPDX-License-Identifier: BSD-3-Clause */
/* parcel.h - the messages of a round, for transports that move them piece by piece through memory:
 * what is left of each, and its data as bytes in a row. */
#ifndef CCO_PARCEL_H
#define CCO_PARCEL_H

#include "sched/transport.h"

/* A message that is not through yet. */
typedef struct cco_parcel {
    int peer; /* -1: it is through */
    bool sends, moved;
    char *at; /* what is left of it */
    size_t left;
    char *packed; /* data with gaps; NULL if it has none */
    cco_data data;
} cco_parcel;

/* A flight of such a transport. */
typedef struct cco_parcels {
    void *shared;
    int count, done; /* messages started, and how many of them are through */
    cco_parcel list[];
} cco_parcels;

/* For the table of the transport. */
void *cco_parcels_open(void *shared, int messages);
void cco_parcels_begin(void *parcels);
int cco_parcels_recv(void *parcels, int peer, const cco_data *to);
int cco_parcels_send(void *parcels, int peer, const cco_data *from);
void cco_parcels_drop(void *parcels); /* forgets what is under way */

/* True if all messages of the round are; the next round may start its own then. */
static inline bool cco_parcels_through(cco_parcels *parcels)
{
    if (parcels->done != parcels->count)
        return false;
    parcels->count = parcels->done = 0;
    return true;
}

/* What moved of it; the parcel is through if that was all.  Returns MPI_SUCCESS or an MPI error
 * class. */
int cco_parcel_check(cco_parcels *parcels, cco_parcel *parcel);

/* Whose turn it is: the messages between two ranks go one after the other in each direction. */
typedef struct cco_turns {
    unsigned *seen; /* twice the number of ranks: the pass in which a direction had its turn */
    unsigned pass;  /* over a list of parcels; add one before each */
} cco_turns;

bool cco_turns_make(cco_turns *turns, int ranks); /* false when memory runs out */
void cco_turns_free(cco_turns *turns);

/* True for the first parcel of its direction in this pass, if that is `sends`. */
bool cco_turns_has(cco_turns *turns, const cco_parcel *parcel, bool sends);

static inline void cco_parcel_advance(cco_parcel *parcel, size_t n)
{
    parcel->at += n;
    parcel->left -= n;
}

#endif
