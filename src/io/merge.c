/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - see merge.h.
 *
 * The sums add up in a binomial tree: no rank holds more than two.  The files of two sums that
 * come first in cco_io_before's order stay.  All ranks have this order, so a file that is left in
 * the end was never left out on the way, and its numbers are whole. */
#include "io/merge.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/service.h"
#include "profile/timeline_merge.h"

static cco_io_total total_of(const cco_io_amount *amount, double tick_us)
{
    const double us = tick_us * (double)amount->ticks;
    return (cco_io_total){amount->calls, amount->bytes, amount->calls > 0, us, us};
}

static void add_total(cco_io_total *into, const cco_io_total *more)
{
    into->calls += more->calls;
    into->bytes += more->bytes;
    into->ranks += more->ranks;
    into->us += more->us;
    into->us_most = more->us_most > into->us_most ? more->us_most : into->us_most;
}

/* `amount` of bin `i`, which is `ratio` of a bin of `to` long. */
static void io_merge_put(double *to, int i, double ratio, double amount)
{
    const double from = i * ratio, until = from + ratio;
    for (int k = (int)from; k < until && k < CCO_BINS; k++)
        to[k] += amount * ((until < k + 1 ? until : k + 1) - (from > k ? from : k)) / ratio;
}

/* Where the middle of bin `i` lies among `most` that are longer: a call is not cut in two. */
static int io_merge_middle(int i, double ratio, int most)
{
    const int at = (int)((i + 0.5) * ratio);
    return at < most ? at : most - 1;
}

static void resample_line(const cco_io_record *record, int part, double tick_us, double ratio,
                          cco_io_line *line)
{
    for (int i = 0; i < CCO_BINS; i++) {
        const cco_io_amount *a = &record->bins[i][part];
        const int at = io_merge_middle(i, ratio, CCO_BINS);
        line->calls[at] += (double)a->calls;
        if (a->calls > 0)
            line->ranks[at] = 1;
        io_merge_put(line->bytes, i, ratio, (double)a->bytes);
        io_merge_put(line->us, i, ratio, tick_us * (double)a->ticks);
    }
}

static void resample_file(const cco_io_file *file, double tick_us, double ratio,
                          cco_io_file_sum *sum)
{
    memcpy(sum->name, file->name, sizeof sum->name);
    sum->processes = file->processes;
    for (int part = 0; part < CCO_IO_PARTS; part++)
        sum->of[part] = total_of(&file->of[part], tick_us);
    for (int direction = 0; direction < CCO_IO_DIRECTIONS; direction++)
        for (int i = 0; i < CCO_IO_WINDOWS; i++) {
            const cco_io_apart *apart = &file->apart[direction][i];
            cco_io_together *to = &sum->apart[direction][io_merge_middle(i, ratio, CCO_IO_WINDOWS)];
            to->calls += apart->calls;
            to->bytes += apart->bytes;
            if (apart->calls > 0)
                to->ranks = 1;
        }
}

static int io_merge_compare(const void *a, const void *b)
{
    const cco_io_file_sum *x = a, *y = b;
    if (x->processes != y->processes)
        return x->processes > y->processes ? -1 : 1;
    return strcmp(x->name, y->name);
}

void cco_io_resample(const cco_io_record *record, double tick_us, double bin_us, cco_io_sum *sum)
{
    double ratio = tick_us * (double)(1ull << record->shift) / bin_us;
    if (fabs(ratio - 1) < 1e-3) /* the same clock: its length is not known better */
        ratio = 1;
    memset(sum, 0, sizeof *sum);
    sum->bin_us = bin_us;
    for (int part = 0; part < CCO_IO_PARTS; part++) {
        resample_line(record, part, tick_us, ratio, &sum->line[part]);
        sum->other[part] = total_of(&record->other.of[part], tick_us);
        cco_io_amount all = record->other.of[part];
        for (int i = 0; i < CCO_IO_FILES; i++) {
            all.calls += record->files[i].of[part].calls;
            all.bytes += record->files[i].of[part].bytes;
            all.ticks += record->files[i].of[part].ticks;
        }
        sum->of[part] = total_of(&all, tick_us);
    }
    while (sum->files < CCO_IO_FILES && record->files[sum->files].processes > 0) {
        resample_file(&record->files[sum->files], tick_us, ratio, &sum->file[sum->files]);
        sum->files++;
    }
    qsort(sum->file, (size_t)sum->files, sizeof sum->file[0], io_merge_compare);
}

static void absorb_line(cco_io_line *into, const cco_io_line *line)
{
    for (int i = 0; i < CCO_BINS; i++) {
        into->calls[i] += line->calls[i];
        into->bytes[i] += line->bytes[i];
        into->us[i] += line->us[i];
        into->ranks[i] += line->ranks[i];
    }
}

static void absorb_file(cco_io_file_sum *into, const cco_io_file_sum *file)
{
    for (int part = 0; part < CCO_IO_PARTS; part++)
        add_total(&into->of[part], &file->of[part]);
    for (int direction = 0; direction < CCO_IO_DIRECTIONS; direction++)
        for (int i = 0; i < CCO_IO_WINDOWS; i++) {
            into->apart[direction][i].calls += file->apart[direction][i].calls;
            into->apart[direction][i].bytes += file->apart[direction][i].bytes;
            into->apart[direction][i].ranks += file->apart[direction][i].ranks;
        }
}

static void *io_merge_room_for(size_t bytes)
{
    void *room = malloc(bytes);
    if (room == NULL)
        cco_fatal("no memory for the record of MPI-IO (%zu bytes)", bytes);
    return room;
}

/* Both lists are in order; so is the result, which keeps the first ones of both. */
static void absorb_files(cco_io_sum *into, const cco_io_sum *sum)
{
    cco_io_file_sum *both = io_merge_room_for(2 * CCO_IO_FILES * sizeof *both);
    int i = 0, j = 0, count = 0;
    while (i < into->files || j < sum->files) {
        const int order = i == into->files  ? 1
                          : j == sum->files ? -1
                                            : io_merge_compare(&into->file[i], &sum->file[j]);
        both[count] = order <= 0 ? into->file[i] : sum->file[j];
        if (order == 0)
            absorb_file(&both[count], &sum->file[j]);
        i += order <= 0;
        j += order >= 0;
        count++;
    }
    into->files = count < CCO_IO_FILES ? count : CCO_IO_FILES;
    memcpy(into->file, both, (size_t)into->files * sizeof *both);
    for (int k = into->files; k < count; k++)
        for (int part = 0; part < CCO_IO_PARTS; part++)
            add_total(&into->other[part], &both[k].of[part]);
    free(both);
}

void cco_io_absorb(cco_io_sum *into, const cco_io_sum *sum)
{
    for (int part = 0; part < CCO_IO_PARTS; part++) {
        add_total(&into->of[part], &sum->of[part]);
        add_total(&into->other[part], &sum->other[part]);
        absorb_line(&into->line[part], &sum->line[part]);
    }
    absorb_files(into, sum);
}

/* Without the room for files that are not there. */
static size_t io_merge_size_of(const cco_io_sum *sum)
{
    return offsetof(cco_io_sum, file) + (size_t)sum->files * sizeof sum->file[0];
}

static const void *io_merge_give(void *what, size_t *bytes)
{
    *bytes = io_merge_size_of(what);
    return what;
}

static bool io_merge_take(void *what, void *theirs, size_t bytes)
{
    (void)bytes;
    cco_io_absorb(what, theirs);
    return true;
}

cco_io_sum *cco_io_merge(MPI_Comm comm, cco_io_record *record, double tick_us, double wall_us)
{
    int ranks;
    double longest[2];
    PMPI_Comm_size(comm, &ranks);
    cco_io_reach(record, cco_ticks());
    if (!cco_timeline_longest(comm, (double[2]){tick_us * (double)(1ull << record->shift), wall_us},
                              longest))
        return NULL;
    cco_io_sum *sum = io_merge_room_for(sizeof *sum);
    cco_io_resample(record, tick_us, longest[0], sum);
    sum->ranks = ranks;
    const double bins = ceil(longest[1] / longest[0]);
    sum->bins = bins < 1 ? 1 : bins > CCO_BINS ? CCO_BINS : (int)bins;
    if (cco_service_merge(&(cco_merger){io_merge_give, io_merge_take, sum, NULL, NULL}, comm))
        return sum;
    free(sum);
    return NULL;
}
