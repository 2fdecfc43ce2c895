/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline_merge.h - the timelines of all ranks become one of bounded size.
 *
 * There is a row for each rank, up to some number; with more ranks, for each group of neighbors of
 * MPI_COMM_WORLD.  Which ranks make a row follows from the number of ranks alone. */
#ifndef CCO_TIMELINE_MERGE_H
#define CCO_TIMELINE_MERGE_H

#include "mpi/mpi_compat.h"
#include <stdio.h>
#include "profile/timeline.h"

enum { CCO_TIMELINE_ROWS = 64 };

/* Sums over ranks, in microseconds per bin. */
typedef struct cco_timeline_row {
    double busy[CCO_BINS]; /* in collectives */
    double sampled[CCO_BINS], waited[CCO_BINS];
} cco_timeline_row;

typedef struct cco_timeline_sum {
    cco_timeline_row row;
    double least[CCO_BINS], most[CCO_BINS]; /* in collectives, of one rank */
    double of[CCO_COLLECTIVES][CCO_BINS];
} cco_timeline_sum;

typedef struct cco_timelines {
    double bin_us;
    int bins;               /* in use */
    int ranks, each;        /* a row has `each` ranks, the last one maybe fewer */
    cco_timeline_sum *all;  /* NULL: there are none */
    cco_timeline_row *rows; /* behind `all` */
} cco_timelines;

/* The fewest ranks that a row must have so that there are at most `most` rows. */
int cco_timeline_each(int ranks, int most);

/* The timeline of one rank in bins of `bin_us`, which are not shorter than its own; its ticks have
 * `tick_us`. */
void cco_timeline_resample(const cco_timeline *t, double tick_us, double bin_us,
                           cco_timeline_sum *sum);

/* Adds the sums of other ranks. */
void cco_timeline_absorb(cco_timeline_sum *into, const cco_timeline_sum *sum);

/* Collective: the length of the longest bin of all ranks, and of the longest run.  False if the MPI
 * fails, or there is no time. */
bool cco_timeline_longest(MPI_Comm comm, const double here[2], double longest[2]);

/* Collective: all timelines on rank 0, in at most `most` rows; others get none.  `wall_us`: what
 * this rank has recorded until now. */
cco_timelines cco_timeline_merge(MPI_Comm comm, const cco_timeline *mine, double tick_us,
                                 double wall_us, int most);

/* Lets go of them. */
void cco_timelines_free(cco_timelines *timelines);

#include "profile/timeline_merge.h"

/* Writes the timelines as a JSON value: null if there are none. */
void cco_timeline_put(FILE *file, const cco_timelines *timelines);

#endif
