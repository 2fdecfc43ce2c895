/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.h - calls of which the waiting will be known: when this rank arrived, and how long it
 * stayed.
 *
 * Nothing is sent while the program runs.  A communicator keeps a bounded number of calls of each
 * collective, which a hash of their numbers chooses: when there is no more room, half of them go,
 * and the hash must be half as large from then on; so they do, too, where noting calls takes more
 * than a part of the time in them.  So what all of its ranks keep is spread evenly over the run,
 * whenever each of them ran out of room or of time.  When the profile ends, ranks exchange what
 * they kept (arrivals_merge.c). */
#ifndef CCO_ARRIVALS_H
#define CCO_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CCO_NOTE_PART = 128,        /* one in so many ticks of calls may go into noting them, */
    CCO_ARRIVALS_FREE = 2048,   /* which counts from so many calls on */
    CCO_ARRIVALS = 4096,        /* of a collective on a communicator, */
    CCO_ARRIVALS_KEPT = 1 << 16 /* and of all that are gone, of one rank: 32 bytes each */
};

typedef struct cco_arrival {
    int64_t arrival; /* cco_clock_here */
    uint64_t ticks;  /* in the call */
    union {
        uint64_t call;  /* number, equal on all ranks; */
        int64_t waited; /* once that has been found out: nanoseconds until the last rank arrived */
    };
    int32_t row; /* of the rows that are kept (cco_profile_row) */
} cco_arrival;

typedef struct cco_arrival_set {
    uint64_t id;    /* of the communicator and the collective, among those of */
    int32_t leader; /* its rank 0, which is this rank of MPI_COMM_WORLD */
    int32_t size;   /* ranks */
    uint64_t calls; /* so far */
    double error;   /* of `waited`, for the clocks: nanoseconds at most */
    uint32_t below; /* the hash of a call that is kept; 0: none is */
    int32_t count, room;
    cco_arrival *list; /* by `call` */
} cco_arrival_set;

typedef struct cco_arrival_sets {
    cco_arrival_set *list;
    int count, room;
} cco_arrival_sets;

struct cco_comm;

/* One blocking call in `rate` at most; 0: none. */
void cco_arrivals_begin(unsigned rate);

/* Makes the sets of a communicator, one for each collective; NULL when memory runs out. */
cco_arrival_set *cco_arrivals_of(struct cco_comm *state);

/* Multiples of the golden ratio spread evenly: no period of the program hides from them. */
static inline uint32_t cco_arrivals_hash(const cco_arrival_set *set, uint64_t call)
{
    return ((uint32_t)call + (uint32_t)set->id) * 2654435769u;
}

/* Whether a call is one. */
static inline bool cco_arrivals_want(const cco_arrival_set *set, uint64_t call)
{
    return cco_arrivals_hash(set, call) < set->below;
}

/* A call has been made.  One for which there is no memory is left out. */
void cco_arrivals_add(cco_arrival_set *set, const cco_arrival *sample);

/* The communicator goes; what its sets have is kept. */
void cco_arrivals_keep(cco_arrival_set *sets);

/* Copies of calls since the moment `from`: adds those of a communicator, or makes those of all that
 * are gone.  They are the caller's. */
void cco_arrivals_add_copies(cco_arrival_sets *to, const cco_arrival_set *sets, int64_t from);
cco_arrival_sets cco_arrivals_of_gone(int64_t from);

/* By leader and number, as ranks exchange them. */
void cco_arrival_sets_sort(cco_arrival_sets *sets);

/* There is no more use for any. */
void cco_arrivals_end(void);

/* The largest hash, of those that are half of each other, with which noting calls takes one in
 * CCO_NOTE_PART of their ticks at most, if one takes `note` ticks. */
uint32_t cco_arrivals_afforded(const cco_arrival_set *set, uint64_t note);

/* Halves the hash until there are no more than `most`. */
void cco_arrivals_thin(cco_arrival_set *set, int most);

void cco_arrival_sets_free(cco_arrival_sets *sets);

#endif
