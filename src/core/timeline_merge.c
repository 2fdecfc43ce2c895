/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline_merge.c - see timeline_merge.h.
 *
 * The ranks of a row add up their sums in a binomial tree; the first of each row sends to rank 0.
 * So no rank holds more than two sums, and rank 0 the rows. */
#include "core/timeline_merge.h"

#include <math.h>
#include <stdlib.h>

#include "core/log.h"
#include "core/service.h"
#include "core/transfer.h"

enum { TIMELINE_TAG = 2 };

int cco_timeline_each(int ranks, int most)
{
    return (ranks + most - 1) / most;
}

static double timeline_merge_larger(double a, double b)
{
    return a > b ? a : b;
}

static double timeline_merge_smaller(double a, double b)
{
    return a < b ? a : b;
}

/* `amount` of bin `i`, which is `ratio` of a bin of `to` long. */
static void timeline_merge_put(double *to, int i, double ratio, double amount)
{
    const double from = i * ratio, until = from + ratio;
    for (int k = (int)from; k < until && k < CCO_BINS; k++)
        to[k] += amount * (timeline_merge_smaller(until, k + 1) - timeline_merge_larger(from, k)) /
                 ratio;
}

void cco_timeline_resample(const cco_timeline *t, double tick_us, double bin_us,
                           cco_timeline_sum *sum)
{
    double ratio = tick_us * (double)(1ull << t->shift) / bin_us;
    if (fabs(ratio - 1) < 1e-3) /* the same clock: its length is not known better */
        ratio = 1;
    *sum = (cco_timeline_sum){0};
    for (int i = 0; i < CCO_BINS && t->bins != NULL; i++) {
        for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
            const double us = tick_us * (double)t->bins[i][coll];
            timeline_merge_put(sum->of[coll], i, ratio, us);
            timeline_merge_put(sum->row.busy, i, ratio, us);
        }
        timeline_merge_put(sum->row.sampled, i, ratio,
                           tick_us * (double)t->bins[i][CCO_BIN_SAMPLED]);
        timeline_merge_put(sum->row.waited, i, ratio, tick_us * (double)t->bins[i][CCO_BIN_WAITED]);
    }
    for (int i = 0; i < CCO_BINS; i++)
        sum->least[i] = sum->most[i] = sum->row.busy[i];
}

void cco_timeline_absorb(cco_timeline_sum *into, const cco_timeline_sum *sum)
{
    for (int i = 0; i < CCO_BINS; i++) {
        into->row.busy[i] += sum->row.busy[i];
        into->row.sampled[i] += sum->row.sampled[i];
        into->row.waited[i] += sum->row.waited[i];
        into->least[i] = timeline_merge_smaller(into->least[i], sum->least[i]);
        into->most[i] = timeline_merge_larger(into->most[i], sum->most[i]);
        for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
            into->of[coll][i] += sum->of[coll][i];
    }
}

static void *timeline_merge_room_for(size_t count, size_t size)
{
    void *room = calloc(count, size);
    if (room == NULL)
        cco_fatal("no memory for the timeline of the profile (%zu bytes)", count * size);
    return room;
}

/* The sum of a row comes to its first rank; `count` ranks from `first` on, this one is `me`. */
static void timeline_merge_add_up(MPI_Comm comm, int first, int count, int me,
                                  cco_timeline_sum *sum)
{
    cco_timeline_sum *theirs = timeline_merge_room_for(1, sizeof *theirs);
    for (int bit = 1; bit < count; bit <<= 1) {
        if (me & bit) {
            cco_transfer_to(comm, first + me - bit, TIMELINE_TAG, sum, sizeof *sum);
            break;
        }
        if (me + bit >= count)
            continue;
        cco_transfer_from(comm, first + me + bit, TIMELINE_TAG, theirs, sizeof *theirs);
        cco_timeline_absorb(sum, theirs);
    }
    free(theirs);
}

/* Rank 0 takes the rows of the others; its own is in `made->all`. */
static void timeline_merge_gather(MPI_Comm comm, cco_timelines *made)
{
    const int rows = cco_timeline_each(made->ranks, made->each);
    cco_timeline_sum *theirs = timeline_merge_room_for(1, sizeof *theirs);
    made->rows = timeline_merge_room_for((size_t)rows, sizeof *made->rows);
    made->rows[0] = made->all->row;
    for (int i = 1; i < rows; i++) {
        cco_transfer_from(comm, i * made->each, TIMELINE_TAG, theirs, sizeof *theirs);
        made->rows[i] = theirs->row;
        cco_timeline_absorb(made->all, theirs);
    }
    free(theirs);
}

bool cco_timeline_longest(MPI_Comm comm, const double here[2], double longest[2])
{
    return cco_service_allreduce(here, longest, 2, MPI_DOUBLE, MPI_MAX, comm) == MPI_SUCCESS &&
           longest[0] > 0;
}

cco_timelines cco_timeline_merge(MPI_Comm comm, const cco_timeline *mine, double tick_us,
                                 double wall_us, int most)
{
    int rank;
    cco_timelines made = {0};
    double here[2] = {tick_us * (double)(1ull << mine->shift), wall_us}, longest[2];
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &made.ranks);
    if (!cco_timeline_longest(comm, here, longest))
        return made;
    made.bin_us = longest[0];
    made.bins = (int)timeline_merge_smaller(
        CCO_BINS, ceil(timeline_merge_larger(longest[1] / longest[0], 1)));
    made.each = cco_timeline_each(made.ranks, most);
    made.all = timeline_merge_room_for(1, sizeof *made.all);
    cco_timeline_resample(mine, tick_us, made.bin_us, made.all);
    const int first = rank - rank % made.each;
    const int count = (int)timeline_merge_smaller(made.each, made.ranks - first);
    timeline_merge_add_up(comm, first, count, rank - first, made.all);
    if (rank == 0) {
        timeline_merge_gather(comm, &made);
        return made;
    }
    if (rank == first)
        cco_transfer_to(comm, 0, TIMELINE_TAG, made.all, sizeof *made.all);
    cco_timelines_free(&made);
    return made;
}

void cco_timelines_free(cco_timelines *timelines)
{
    free(timelines->all);
    free(timelines->rows);
    timelines->all = NULL;
    timelines->rows = NULL;
}
