/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline_json.c - see timeline_json.h. */
#include "core/timeline_json.h"

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
