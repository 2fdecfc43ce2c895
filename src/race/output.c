/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - see output.h. */
#include "race/output.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/clock.h"
#include "base/hold_signals.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "crestacoll.h"

static const char *const stages[] = {"warm", "screen", "confirm", "rest", "over"};

static const double LATER_S = 0.25;
static struct {
    FILE *file;
    double began;
    double flushed;       /* seconds when that was, and the next time after LATER_S */
    pthread_mutex_t lock; /* of turns */
} output = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cco_race_output_begin(void)
{
    output.began = cco_seconds();
}

void cco_race_output_open(const char *path)
{
    if (output.file != NULL)
        return;
    output.file = path != NULL ? fopen(path, "a") : NULL;
    if (path != NULL && output.file == NULL)
        cco_say("CRESTA_RACE: cannot write %s", path);
}

void cco_race_output_close(void)
{
    cco_held_signals held;
    cco_hold_signals(&held);
    if (output.file != NULL)
        fclose(output.file);
    output.file = NULL;
    cco_let_signals_go(&held);
}

static void output_flush(void)
{
    cco_held_signals held;
    cco_hold_signals(&held);
    fflush(output.file);
    cco_let_signals_go(&held);
}

__attribute__((format(printf, 1, 2))) static void output_put(const char *format, ...)
{
    enum { MOST = 1024 }; /* bytes of one piece: the rest of the buffer does */
    va_list more;
    if (__fpending(output.file) + MOST > __fbufsize(output.file))
        output_flush();
    va_start(more, format);
    vfprintf(output.file, format, more);
    va_end(more);
}

/* Whole lines only: whoever reads may come at any time. */
static void end_line(void)
{
    output_put(",\"at_s\":%.6f}\n", cco_seconds() - output.began);
    output_flush();
}

/* Ends a line of a kind that may come often. */
static void end_line_later(void)
{
    const double now = cco_seconds();
    output_put(",\"at_s\":%.6f}\n", now - output.began);
    if (now - output.flushed < LATER_S)
        return;
    output_flush();
    output.flushed = now;
}

/* JSON has no infinity. */
static void put_number(const char *name, double number)
{
    if (isfinite(number))
        output_put(",\"%s\":%.9g", name, number);
    else
        output_put(",\"%s\":null", name);
}

static void put_text(const char *text)
{
    output_put("\"");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\' || *c < 0x20)
            output_put("\\u%04x", *c);
        else
            output_put("%c", *c);
    }
    output_put("\"");
}

static void put_interval(const cco_interval *interval)
{
    put_number("difference", expm1(interval->center));
    put_number("low", expm1(interval->low));
    put_number("high", expm1(interval->high));
}

/* Who compares what. */
static void put_head(const char *event, const cco_race_settings *settings, int ranks)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    output_put("{\"event\":\"%s\",\"crestacoll\":\"%d.%d.%d\",\"mpi\":", event,
               CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR, CRESTA_VERSION_PATCH);
    put_text(version);
    output_put(",\"ranks\":%d,\"arms\":[", ranks);
    for (int i = 0; i < settings->arms; i++) {
        output_put(i > 0 ? "," : "");
        put_text(settings->arm[i].name);
    }
    output_put("]");
}

void cco_race_tell_start(const cco_race_settings *settings, const cco_comm *anchor, cco_coll coll,
                         MPI_Count bytes, int period)
{
    if (output.file == NULL)
        return;
    put_head("start", settings, anchor->size);
    output_put(",\"anchor\":{\"communicator\":");
    put_text(anchor->name);
    output_put(",\"processes\":%d,\"collective\":\"%s\",\"bytes\":%lld,\"calls_per_step\":%d}",
               anchor->size, cco_coll_infos[coll].name, (long long)bytes, period);
    end_line();
}

void cco_race_tell_arms(const cco_race_settings *settings, int first)
{
    for (int arm = first; output.file != NULL && arm < settings->arms; arm++) {
        output_put("{\"event\":\"arm\",\"arm\":%d,\"name\":", arm);
        put_text(settings->arm[arm].name);
        end_line();
    }
}

void cco_race_tell_online(int arm, const char *rules, bool certain, const cco_interval *gained,
                          double regret_s, double spent_s)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"online\",\"arm\":%d,\"rules\":", arm);
    put_text(rules);
    output_put(",\"certain\":%s", certain ? "true" : "false");
    put_interval(gained);
    put_number("regret_s", regret_s);
    put_number("spent_s", spent_s);
    end_line();
}

void cco_race_tell_none(const char *why, bool repeats)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"none\",\"why\":");
    put_text(why);
    output_put(",\"repeats\":%s", repeats ? "true" : "false");
    end_line();
}

void cco_race_tell_first(int arm)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"first\",\"arm\":%d", arm);
    end_line();
}

void cco_race_tell_warm(int arm, double first_s)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"warm\",\"arm\":%d", arm);
    put_number("first_s", first_s);
    end_line();
}

static void put_blocks(const char *name, int blocks, const int8_t *order, const double *seconds,
                       int parts)
{
    output_put(",\"order\":[");
    for (int i = 0; i < blocks; i++)
        output_put("%s%d", i > 0 ? "," : "", order[i]);
    output_put("],\"%s\":[", name);
    for (int i = 0; i < blocks; i++)
        output_put("%s%.9g", i > 0 ? "," : "", seconds[i] / parts);
    output_put("]");
}

void cco_race_tell_round(const cco_race_next *next, int blocks, const int8_t *order,
                         const double *step_s)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"round\",\"phase\":\"%s\",\"steps\":%d", stages[next->stage],
               next->steps);
    put_blocks("step_s", blocks, order, step_s, 1);
    end_line();
}

static void tell_dropped(const cco_judge *j)
{
    for (int arm = 0; arm < CCO_ARMS; arm++) {
        if (!(j->dropped >> arm & 1))
            continue;
        output_put("{\"event\":\"drop\",\"arm\":%d,\"rounds\":%d", arm,
                   j->differences.rounds * j->differences.merged);
        put_interval(&j->interval[arm]);
        end_line();
    }
}

static void tell_stage(const cco_race_next *next)
{
    output_put("{\"event\":\"phase\",\"phase\":\"%s\",\"arms\":[", stages[next->stage]);
    for (int arm = 0, n = 0; arm < CCO_ARMS; arm++)
        if (next->alive >> arm & 1)
            output_put("%s%d", n++ > 0 ? "," : "", arm);
    output_put("],\"steps\":%d", next->steps);
    end_line();
}

static void tell_verdict(const cco_judge *j)
{
    const int arm = j->next.arm;
    output_put("{\"event\":\"verdict\",\"arm\":%d", arm);
    put_interval(&j->interval[arm]);
    put_number("mean", expm1(j->mean[arm].center));
    output_put(",\"agree\":%s,\"rounds\":%d",
               j->mean[arm].center < 0 || arm == j->reference ? "true" : "false",
               j->differences.rounds * j->differences.merged);
    end_line();
}

void cco_race_tell_next(const cco_judge *judge, const cco_race_next *before)
{
    if (output.file == NULL)
        return;
    tell_dropped(judge);
    if (judge->next.stage == CCO_RACE_OVER)
        tell_verdict(judge);
    else if (judge->next.stage != before->stage)
        tell_stage(&judge->next);
}

void cco_race_tell_end(const char *why)
{
    if (output.file == NULL)
        return;
    output_put("{\"event\":\"end\",\"why\":\"%s\"", why);
    end_line();
}

void cco_race_output_open_own(const char *path, int rank)
{
    char own[4096];
    if (path == NULL || rank == 0) {
        cco_race_output_open(path);
        return;
    }
    snprintf(own, sizeof own, "%s.%d", path, rank);
    cco_race_output_open(own);
}

void cco_race_tell_turns(const cco_race_settings *settings, int ranks)
{
    if (output.file == NULL)
        return;
    put_head("turns", settings, ranks);
    end_line();
}

static void put_point(const cco_race_point *point)
{
    const int k = point->size_class;
    const unsigned long long low = k == 0 ? 0 : 1ull << (k - 1);
    output_put(
        ",\"communicator\":[%llu,%llu],\"processes\":%d,\"collective\":\"%s\",\"bytes_min\":%llu",
        (unsigned long long)point->number, (unsigned long long)point->lead, point->processes,
        cco_coll_infos[point->coll].name, low);
}

/* True, with the lock, if there is somebody to tell. */
static bool lock_file(void)
{
    if (output.file == NULL)
        return false;
    pthread_mutex_lock(&output.lock);
    return true;
}

void cco_race_tell_first_at(const cco_race_point *point, int arm)
{
    if (!lock_file())
        return;
    output_put("{\"event\":\"first\",\"arm\":%d", arm);
    put_point(point);
    end_line();
    pthread_mutex_unlock(&output.lock);
}

void cco_race_tell_turn(const cco_race_point *point, const cco_turn *turn, const double *seconds)
{
    if (!lock_file())
        return;
    output_put("{\"event\":\"turn\"");
    put_point(point);
    output_put(",\"round\":%u,\"calls\":%d", turn->next.round, cco_turn_counted(turn));
    put_blocks("call_s", turn->blocks, turn->order, seconds, cco_turn_counted(turn));
    end_line_later();
    pthread_mutex_unlock(&output.lock);
}

void cco_race_note_first_calls(const cco_race_point *point, int arm, int calls, double seconds)
{
    if (!lock_file())
        return;
    output_put("{\"event\":\"youth\"");
    put_point(point);
    output_put(",\"arm\":%d,\"calls\":%d,\"call_s\":%.9g", arm, calls, seconds / calls);
    end_line_later();
    pthread_mutex_unlock(&output.lock);
}
