/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_json.c - the profile file; its schema is
 * python/crestacoll_tools/schemas/profile.schema.json. */
#include "profile/profile_json.h"

#include <errno.h>
#include <stdio.h>

#include "profile/common_clock.h"
#include "config/config.h"
#include "base/json_out.h"
#include "profile/profile_merge.h"
#include "mpi/mpi_compat.h"
#include "profile/timeline_merge.h"

static void put_or_null(FILE *file, const char *member, const char *text)
{
    fprintf(file, ", \"%s\": ", member);
    if (text[0])
        cco_put_string(file, text);
    else
        fprintf(file, "null");
}

static double profile_json_within(double value, double most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* Ranks of which it is unknown are taken to be like the others. */
static void put_wait(FILE *file, const cco_row *row)
{
    const cco_waiting *w = &row->waiting;
    const double ranks = (double)row->ranks, time = row->us_sum / ranks;
    const double scale = w->time > 0 ? time / w->time : 0,
                 mean = profile_json_within(w->us * scale, time);
    const double clock = w->clock * (double)row->calls / ranks, spread = w->spread * scale + clock;
    fprintf(file, ", \"wait_us\": ");
    if (w->samples == 0)
        fprintf(file, "null");
    else
        fprintf(file,
                "{\"samples\": %llu, \"mean\": %.3f, \"low\": %.3f, \"high\": %.3f, "
                "\"max\": %.3f, \"clock_error\": %.3f}",
                (unsigned long long)w->samples, mean, profile_json_within(mean - spread, time),
                profile_json_within(mean + spread, time), profile_json_within(w->most, row->us_max),
                clock);
}

/* What calls that ran as schedules of ours sent; for the MPI's own nobody knows. */
static void put_between(FILE *file, const cco_row *row)
{
    if (row->nodes > 0)
        fprintf(file, ", \"nodes\": %d", (int)row->nodes);
    else
        fprintf(file, ", \"nodes\": null");
    fprintf(file, ", \"between_nodes\": ");
    if (row->between.calls == 0)
        fprintf(file, "null");
    else
        fprintf(file, "{\"calls\": %llu, \"messages\": %llu, \"bytes\": %llu}",
                (unsigned long long)row->between.calls, (unsigned long long)row->between.messages,
                (unsigned long long)row->between.bytes);
}

static void put_row(FILE *file, const cco_row *row)
{
    static const char *const modes[CCO_MODES] = {"blocking", "nonblocking", "persistent"};
    const int k = row->size_class;
    const unsigned long long low = k == 0 ? 0 : 1ULL << (k - 1);
    fprintf(file, "    {\"collective\": \"%s\", \"mode\": \"%s\", \"communicator\": ",
            cco_coll_infos[row->coll].name, modes[row->mode]);
    cco_put_string(file, row->communicator);
    fprintf(file, ", \"processes\": %d, \"bytes_min\": %llu, \"bytes_max\": ", row->processes, low);
    if (k == CCO_SIZE_CLASSES - 1)
        fprintf(file, "null");
    else
        fprintf(file, "%llu", k == 0 ? 0ULL : 2 * low - 1);
    fprintf(file, ", \"implementation\": ");
    cco_put_string(file, row->impl);
    put_or_null(file, "rule", row->rule);
    put_or_null(file, "refused", row->refused);
    fprintf(
        file,
        ",\n     \"ranks\": %lld, \"calls\": %llu, \"calls_total\": %llu, \"bytes_total\": %llu",
        (long long)row->ranks, (unsigned long long)row->calls_max, (unsigned long long)row->calls,
        (unsigned long long)row->bytes);
    fprintf(file,
            ", \"time_us\": {\"min\": %.3f, \"mean\": %.3f, \"max\": %.3f, \"timed\": %llu, "
            "\"error\": %.3f}",
            row->us_min, row->us_sum / (double)row->ranks, row->us_max,
            (unsigned long long)row->timed, row->us_error);
    put_wait(file, row);
    put_between(file, row);
    fprintf(file, "}");
}

static void profile_json_put_rows(FILE *file, const cco_rows *rows)
{
    for (int i = 0; i < rows->count; i++) {
        put_row(file, &rows->list[i]);
        fprintf(file, i + 1 < rows->count ? ",\n" : "\n");
    }
}

static void put_member_set(FILE *file, const cco_members *members)
{
    const char *comma = "";
    fprintf(file, "    {\"communicator\": ");
    cco_put_string(file, members->communicator);
    fprintf(file, ", \"processes\": %d, \"members\": [", members->processes);
    for (int i = 0; i < members->runs; i++)
        fprintf(file, "%s[%d, %d, %d]", i > 0 ? ", " : "", members->run[i].first,
                members->run[i].stride, members->run[i].count);
    if (members->nodes.count > 0)
        fprintf(file, "], \"nodes\": {\"count\": %d, \"ranks_min\": %d, \"ranks_max\": %d}",
                (int)members->nodes.count, (int)members->nodes.ranks_min,
                (int)members->nodes.ranks_max);
    else
        fprintf(file, "], \"nodes\": null");
    fprintf(file, ", \"bytes\": {");
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        if (members->bytes[coll] == 0)
            continue;
        fprintf(file, "%s\"%s\": %llu", comma, cco_coll_infos[coll].name,
                (unsigned long long)members->bytes[coll]);
        comma = ", ";
    }
    fprintf(file, "}}");
}

static void put_members(FILE *file, const cco_member_sets *members)
{
    fprintf(file, "],\n \"communicators\": [\n");
    for (int i = 0; i < members->count; i++) {
        put_member_set(file, &members->list[i]);
        fprintf(file, i + 1 < members->count ? ",\n" : "\n");
    }
}

int cco_profile_write_so_far(const char *path, const cco_rows *rows, int ranks, double wall_s)
{
    cco_output output;
    const int error = cco_output_open(&output, path, false);
    if (error)
        return error;
    FILE *file = output.file;
    fprintf(file, "{\"schema\": \"crestacoll-snapshot-1\", \"mpi\": ");
    cco_put_library(file);
    fprintf(file, ",\n \"ranks\": %d, \"wall_s\": %.6f, \"records\": [\n", ranks, wall_s);
    profile_json_put_rows(file, rows);
    fprintf(file, "]}\n");
    return cco_output_close(&output);
}

void cco_profile_put(FILE *file, const cco_rows *rows, const cco_member_sets *members,
                     const cco_timelines *timelines, int ranks, double wall_s, const char *origin)
{
    fprintf(file, "{\"schema\": \"crestacoll-profile-5\", \"crestacoll\": \"%d.%d.%d\", \"mpi\": ",
            CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR, CRESTA_VERSION_PATCH);
    cco_put_library(file);
    fprintf(file, ",\n \"ranks\": %d, \"wall_s\": %.6f, \"wait_sampling\": %u, \"clocks\": ", ranks,
            wall_s, cco_configured.profile_wait);
    cco_common_clock_put(file);
    fprintf(file, ", \"records\": [\n");
    profile_json_put_rows(file, rows);
    put_members(file, members);
    fprintf(file, "],\n \"timeline\": ");
    cco_timeline_put(file, timelines);
    cco_profile_part_put(file);
    if (origin != NULL)
        fprintf(file, ",\n \"origin\": %s", origin);
    fprintf(file, "}\n");
}

int cco_profile_write(cco_output *output, bool spawned, const cco_rows *rows,
                      const cco_member_sets *members, const cco_timelines *timelines, int ranks,
                      double wall_s, const char *origin)
{
    const int error = cco_output_open(output, cco_configured.profile, spawned);
    if (error)
        return error;
    cco_profile_put(output->file, rows, members, timelines, ranks, wall_s, origin);
    return cco_output_close(output);
}
