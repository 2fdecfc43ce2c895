/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - see report.h; and report.h for crestacoll-check. */
#include "tell.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { LINE = 1024 };

static struct {
    int rank;
    unsigned timeout;
    bool progress;
    const struct cell *cell;
    struct found found;
    int fine, not_here, wrong; /* cells */
    char head[256];            /* "Error in CRESTA_X: IMPL, rank R, ": a signal must not format */
    char problem[512];
} now;

/* One write per line, so that the lines of several ranks do not mix. */
__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    char line[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    puts(line);
    fflush(stdout);
}

/* Adds text to a line in a signal handler. */
static void append(char *line, const char *text)
{
    const size_t used = strlen(line), n = strlen(text), room = LINE - 2 - used;
    memcpy(line + used, text, n < room ? n : room);
    line[used + (n < room ? n : room)] = '\0';
}

static void on_signal(int number)
{
    char line[LINE] = "", digits[4] = {(char)('0' + number / 10), (char)('0' + number % 10), '\0'};
    append(line, now.head);
    append(line, number == SIGALRM ? "no end in time" : "stopped by signal ");
    append(line, number == SIGALRM ? "" : digits + (number < 10));
    append(line, " (");
    append(line, now.problem);
    append(line, ")\n");
    (void)!write(STDOUT_FILENO, line, strlen(line));
    _exit(number == SIGALRM ? 124 : 128 + number);
}

void tell_begin(int rank, unsigned timeout, bool progress)
{
    static const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    now.rank = rank;
    now.timeout = timeout;
    now.progress = progress;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], on_signal);
}

static const char *name(const struct cell *cell)
{
    return cco_coll_infos[cell->which].name;
}

void tell_trying(const struct cell *cell)
{
    now.cell = cell;
    now.found = (struct found){0};
    snprintf(now.problem, sizeof now.problem, "before its first call");
    snprintf(now.head, sizeof now.head, "Error in CRESTA_%s: %s, rank %d, ",
             cco_coll_infos[cell->which].mpi_name, cell->impl, now.rank);
    alarm(now.timeout);
    if (now.progress && now.rank == 0)
        print("trying: %s=%s", name(cell), cell->impl);
}

struct found tell_found(void)
{
    return now.found;
}

void tell_fine(const struct cell *cell, long tried, long refused)
{
    now.fine++;
    if (now.rank == 0)
        print("fine: %s=%s: %ld calls, %ld refused", name(cell), cell->impl, tried, refused);
}

void tell_not_here(const struct cell *cell, const char *why, const char *instead)
{
    now.not_here++;
    if (now.rank == 0 && instead != NULL)
        print("not here: %s=%s: %s (%s runs instead)", name(cell), cell->impl, why, instead);
    else if (now.rank == 0)
        print("not here: %s=%s: %s", name(cell), cell->impl, why);
}

void tell_wrong(const struct cell *cell, struct found sum)
{
    now.wrong++;
    if (now.rank == 0)
        print("wrong: %s=%s: %ld comparisons of %ld", name(cell), cell->impl, sum.wrong,
              sum.compared);
}

void tell_end(void)
{
    alarm(0);
    if (now.rank == 0)
        print("end: %d fine, %d not here, %d wrong", now.fine, now.not_here, now.wrong);
}

/* ---- report.h ---- */

void report_problem(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(now.problem, sizeof now.problem, format, args);
    va_end(args);
}

void report_good(void)
{
    now.found.compared++;
}

/* The first of a cell is reported; what the MPI itself gets wrong is not the implementation's. */
void report_wrong(const struct wrong *w)
{
    char at[32] = "";
    if (w->at != NOWHERE)
        snprintf(at, sizeof at, ", byte %td", w->at);
    if (w->mode == reference_mode) {
        print("left out: the MPI's own %s is wrong: rank %d, %s%s: expected %s, found %s (%s)",
              cco_coll_infos[now.cell->which].mpi_name, now.rank, w->where, at, w->expected,
              w->found, now.problem);
        return;
    }
    now.found.compared++;
    if (now.found.wrong++ == 0)
        print("%s%s%s: expected %s, found %s (%s, %s)", now.head, w->where, at, w->expected,
              w->found, w->mode, now.problem);
}

void report_left_out(const char *reason)
{
    if (now.rank == 0)
        print("left out: %s", reason);
}
