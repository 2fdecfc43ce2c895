/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline_merge.c - see timeline_merge.h.
 *
 * Below each place of the tree are ranks that follow each other, so that their rows do, too. */
#include "profile/timeline_merge.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/service.h"

/* What a rank has of itself and of those below it; the first row is its own. */
typedef struct timeline_part {
    cco_timeline_sum all; /* first: cco_timelines_free */
    int first, count;
    cco_timeline_row rows[];
} timeline_part;

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

static void timeline_merge_add_row(cco_timeline_row *into, const cco_timeline_row *row)
{
    for (int i = 0; i < CCO_BINS; i++) {
        into->busy[i] += row->busy[i];
        into->sampled[i] += row->sampled[i];
        into->waited[i] += row->waited[i];
    }
}

void cco_timeline_absorb(cco_timeline_sum *into, const cco_timeline_sum *sum)
{
    timeline_merge_add_row(&into->row, &sum->row);
    for (int i = 0; i < CCO_BINS; i++) {
        into->least[i] = timeline_merge_smaller(into->least[i], sum->least[i]);
        into->most[i] = timeline_merge_larger(into->most[i], sum->most[i]);
        for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
            into->of[coll][i] += sum->of[coll][i];
    }
}

static const void *timeline_merge_give(void *what, size_t *bytes)
{
    const timeline_part *part = what;
    *bytes = sizeof *part + (size_t)part->count * sizeof part->rows[0];
    return part;
}

static bool timeline_merge_take(void *what, void *theirs, size_t bytes)
{
    timeline_part *mine = what;
    const timeline_part *part = theirs;
    (void)bytes;
    cco_timeline_absorb(&mine->all, &part->all);
    for (int i = 0; i < part->count; i++)
        timeline_merge_add_row(&mine->rows[part->first - mine->first + i], &part->rows[i]);
    mine->count = part->first - mine->first + part->count;
    return true;
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
    const int first = rank / made.each, rows = cco_timeline_each(made.ranks, made.each) - first;
    timeline_part *part = calloc(1, sizeof *part + (size_t)rows * sizeof part->rows[0]);
    if (part == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for %d rows of the profile's timeline", rows);
    part->first = first;
    part->count = 1;
    cco_timeline_resample(mine, tick_us, made.bin_us, &part->all);
    part->rows[0] = part->all.row;
    made.all = &part->all;
    made.rows = part->rows;
    if (!cco_service_merge(
            &(cco_merger){timeline_merge_give, timeline_merge_take, part, NULL, NULL}, comm))
        cco_timelines_free(&made);
    return made;
}

void cco_timelines_free(cco_timelines *timelines)
{
    free(timelines->all);
    timelines->all = NULL;
    timelines->rows = NULL;
}

/* Microseconds of each bin, mean over the ranks that they were added up of. */
static void timeline_json_put_bins(FILE *file, const char *name, const double *bins, int count,
                                   int ranks)
{
    fprintf(file, "\"%s\": [", name);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%.4g", i ? "," : "", bins[i] / ranks);
    fprintf(file, "]");
}

/* The calls in which the wait was measured stand for all calls of a bin. */
static void put_waiting(FILE *file, const cco_timeline_row *row, int count, int ranks)
{
    fprintf(file, "\"waiting_us\": [");
    for (int i = 0; i < count; i++) {
        fprintf(file, i ? "," : "");
        if (row->sampled[i] > 0)
            fprintf(file, "%.4g", row->busy[i] / ranks * row->waited[i] / row->sampled[i]);
        else
            fprintf(file, "null");
    }
    fprintf(file, "]");
}

static void timeline_json_put_rows(FILE *file, const cco_timelines *t)
{
    const int rows = cco_timeline_each(t->ranks, t->each);
    for (int i = 0; i < rows; i++) {
        const int first = i * t->each, left = t->ranks - first;
        const int ranks = left < t->each ? left : t->each;
        fprintf(file, "   {\"rank\": %d, \"ranks\": %d, ", first, ranks);
        timeline_json_put_bins(file, "busy_us", t->rows[i].busy, t->bins, ranks);
        fprintf(file, ",\n    ");
        put_waiting(file, &t->rows[i], t->bins, ranks);
        fprintf(file, i + 1 < rows ? "},\n" : "}]");
    }
}

static bool timeline_json_any(const double *bins, int count)
{
    for (int i = 0; i < count; i++)
        if (bins[i] > 0)
            return true;
    return false;
}

static void put_collectives(FILE *file, const cco_timelines *t)
{
    bool first = true;
    fprintf(file, ",\n  \"collectives_us\": {");
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        if (!timeline_json_any(t->all->of[coll], t->bins))
            continue;
        fprintf(file, first ? "\n   " : ",\n   ");
        timeline_json_put_bins(file, cco_coll_infos[coll].name, t->all->of[coll], t->bins,
                               t->ranks);
        first = false;
    }
    fprintf(file, "}");
}

void cco_timeline_put(FILE *file, const cco_timelines *t)
{
    if (t->all == NULL) {
        fprintf(file, "null");
        return;
    }
    fprintf(file, "{\"bin_us\": %.3f, \"bins\": %d, \"ranks_per_row\": %d,\n  \"busy_us\": {",
            t->bin_us, t->bins, t->each);
    timeline_json_put_bins(file, "min", t->all->least, t->bins, 1);
    fprintf(file, ",\n   ");
    timeline_json_put_bins(file, "mean", t->all->row.busy, t->bins, t->ranks);
    fprintf(file, ",\n   ");
    timeline_json_put_bins(file, "max", t->all->most, t->bins, 1);
    fprintf(file, "},\n  ");
    put_waiting(file, &t->all->row, t->bins, t->ranks);
    put_collectives(file, t);
    fprintf(file, ",\n  \"rows\": [\n");
    timeline_json_put_rows(file, t);
    fprintf(file, "}");
}
