/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c - see write.h. */
#include "io/write.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/json_out.h"
#include "base/log.h"
#include "profile/profile_merge.h"

static const char *const kinds[CCO_IO_KINDS] = {"independent", "collective", "split", "nonblocking",
                                                "nonblocking_collective"};
static const char *const directions[CCO_IO_DIRECTIONS] = {"read", "write"};
static const char *const operations[] = {"open", "close", "sync", "set_view"};

/* What a part is, as the first members of an object. */
static void put_part(FILE *file, int part)
{
    if (part < CCO_IO_DATA_PARTS)
        fprintf(file, "{\"kind\": \"%s\", \"direction\": \"%s\"", kinds[part / CCO_IO_DIRECTIONS],
                directions[part % CCO_IO_DIRECTIONS]);
    else
        fprintf(file, "{\"operation\": \"%s\"", operations[part - CCO_IO_DATA_PARTS]);
}

/* The time is a mean over `ranks`, or over those that called (0). */
static void put_total(FILE *file, const cco_io_total *total, int part, double ranks)
{
    fprintf(file, ", \"ranks\": %llu, \"calls\": %llu", (unsigned long long)total->ranks,
            (unsigned long long)total->calls);
    if (part < CCO_IO_DATA_PARTS)
        fprintf(file, ", \"bytes\": %llu", (unsigned long long)total->bytes);
    fprintf(file, ", \"time_us\": {\"mean\": %.3f, \"max\": %.3f}",
            total->us / (ranks > 0 ? ranks : (double)total->ranks), total->us_most);
}

static void write_put_bins(FILE *file, const char *name, const double *bins, int count, double over)
{
    fprintf(file, ",\n     \"%s\": [", name);
    for (int i = 0; i < count; i++)
        fprintf(file, "%s%.6g", i ? "," : "", bins[i] / over);
    fprintf(file, "]");
}

static void put_line(FILE *file, const cco_io_sum *sum, int part)
{
    const cco_io_line *line = &sum->line[part];
    write_put_bins(file, "calls_of_bins", line->calls, sum->bins, 1);
    write_put_bins(file, "ranks_of_bins", line->ranks, sum->bins, 1);
    if (part < CCO_IO_DATA_PARTS)
        write_put_bins(file, "bytes_of_bins", line->bytes, sum->bins, 1);
    write_put_bins(file, "us_of_bins", line->us, sum->bins, sum->ranks);
}

/* Writes those parts that have calls; with their bins, where the sum is of all files. */
static void put_parts(FILE *file, const char *name, const cco_io_total *of, int first, int end,
                      double ranks, const cco_io_sum *bins)
{
    const char *comma = "";
    fprintf(file, "\"%s\": [", name);
    for (int part = first; part < end; part++) {
        if (of[part].calls == 0)
            continue;
        fprintf(file, "%s\n    ", comma);
        put_part(file, part);
        put_total(file, &of[part], part, ranks);
        if (bins != NULL)
            put_line(file, bins, part);
        fprintf(file, "}");
        comma = ",";
    }
    fprintf(file, "]");
}

static void put_all_parts(FILE *file, const cco_io_total *of, double ranks, const cco_io_sum *bins)
{
    put_parts(file, "data", of, 0, CCO_IO_DATA_PARTS, ranks, bins);
    fprintf(file, ",\n   ");
    put_parts(file, "other_calls", of, CCO_IO_DATA_PARTS, CCO_IO_PARTS, ranks, bins);
}

/* The windows in which each rank of a file calls independently.  Libraries open a file once more on
 * MPI_COMM_SELF for such calls (PnetCDF): then all count that have opened it. */
static void put_together(FILE *file, const cco_io_file_sum *sum)
{
    const uint64_t opened = sum->of[CCO_IO_OPEN].ranks, processes = (uint64_t)sum->processes;
    const uint64_t all = opened > processes ? opened : processes;
    const char *comma = "";
    fprintf(file, ",\n   \"could_be_collective\": [");
    for (int direction = 0; direction < CCO_IO_DIRECTIONS; direction++)
        for (int i = 0; i < CCO_IO_WINDOWS; i++) {
            const cco_io_together *together = &sum->apart[direction][i];
            if (all < 2 || together->ranks < all)
                continue;
            fprintf(file,
                    "%s\n    {\"direction\": \"%s\", \"window\": %d, \"ranks\": %llu,"
                    " \"calls\": %llu, \"bytes\": %llu}",
                    comma, directions[direction], i, (unsigned long long)together->ranks,
                    (unsigned long long)together->calls, (unsigned long long)together->bytes);
            comma = ",";
        }
    fprintf(file, "]");
}

static void put_files(FILE *file, const cco_io_sum *sum)
{
    fprintf(file, " \"files\": [");
    for (int i = 0; i < sum->files; i++) {
        const cco_io_file_sum *one = &sum->file[i];
        fprintf(file, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        if (one->name[0])
            cco_put_string(file, one->name);
        else
            fprintf(file, "null");
        fprintf(file, ", \"processes\": %d, ", one->processes);
        put_all_parts(file, one->of, 0, NULL);
        put_together(file, one);
        fprintf(file, "}");
    }
    fprintf(file, "],\n \"other_files\": {");
    put_all_parts(file, sum->other, 0, NULL);
    fprintf(file, "}");
}

void cco_io_put(FILE *file, const cco_io_sum *sum, double wall_s)
{
    fprintf(file, "{\"schema\": \"crestacoll-io-1\", \"crestacoll\": \"%d.%d.%d\", \"mpi\": ",
            CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR, CRESTA_VERSION_PATCH);
    cco_put_library(file);
    fprintf(file,
            ",\n \"ranks\": %d, \"wall_s\": %.6f, \"bin_us\": %.3f, \"bins\": %d,"
            " \"bins_per_window\": %d,\n ",
            sum->ranks, wall_s, sum->bin_us, sum->bins, CCO_IO_IN_WINDOW);
    put_all_parts(file, sum->of, sum->ranks, sum);
    fprintf(file, ",\n");
    put_files(file, sum);
    fprintf(file, "}\n");
}

static void write_sum(const cco_io_sum *sum, bool spawned, double wall_s)
{
    cco_output output;
    int error = cco_output_open(&output, cco_configured.io, spawned);
    if (!error) {
        cco_io_put(output.file, sum, wall_s);
        error = cco_output_close(&output);
    }
    if (error)
        cco_say("cannot write the record of MPI-IO %s: %s", output.path, strerror(error));
}

void cco_io_write(MPI_Comm world, bool spawned)
{
    const cco_clock_mark now = cco_clock_now();
    const double wall_s = now.seconds - cco_io_here->begin.seconds;
    MPI_Comm comm = cco_profile_comm(world);
    int rank = 0;
    cco_io_recording = false;
    PMPI_Comm_rank(world, &rank);
    if (comm == MPI_COMM_NULL) {
        if (rank == 0)
            cco_log(CCO_LOG_WARN, "no record of MPI-IO: the MPI could not make a communicator");
        return;
    }
    cco_io_sum *sum = cco_io_merge(comm, cco_io_here, cco_tick_us(cco_io_here->begin, now),
                                   1e6 * wall_s);
    if (sum != NULL)
        write_sum(sum, spawned, wall_s);
    free(sum);
    PMPI_Comm_free(&comm);
}
