/* SPDX-License-Identifier: BSD-3-Clause */
/* testing.h - the tiny harness: CHECK counts failures, the exit code decides, a watchdog names what
 * hangs.
 *
 *     int main(void) { CHECK(1 + 1 == 2, "sum of %d and %d", 1, 1); return testing_end("name"); }
 */
#ifndef TESTING_H
#define TESTING_H

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define CHECK(condition, ...)                                                                      \
    testing_check(!!(condition), #condition, __FILE__, __LINE__, __VA_ARGS__)

enum { TESTING_SHOWN = 12 }; /* failures shown per process; all are counted */

#define SHARED __attribute__((weak)) /* one variable in a program of several files */
SHARED long testing_checks, testing_failures;
SHARED int testing_rank = -1;             /* for messages; -1: not an MPI program */
SHARED char testing_label[512] = "start"; /* what runs now: failures and the watchdog show it */

__attribute__((format(printf, 5, 6), unused)) static int
testing_check(int good, const char *condition, const char *file, int line, const char *format, ...)
{
    testing_checks++;
    if (good || testing_failures++ >= TESTING_SHOWN)
        return good;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "FAIL rank %d %s:%d: %s [%s]\n    in: %s\n", testing_rank, file, line, text,
            condition, testing_label);
    return good;
}

static void testing_alarm(int signal)
{
    static const char head[] = "\nFAIL: no progress; hangs in: ";
    (void)signal;
    if (write(2, head, sizeof head - 1) > 0 && write(2, testing_label, strlen(testing_label)) > 0)
        (void)!write(2, "\n", 1);
    _exit(124);
}

/* Stop this process with a message if it has not ended after so many seconds. */
__attribute__((unused)) static void testing_watchdog(unsigned seconds)
{
    signal(SIGALRM, testing_alarm);
    alarm(seconds);
}

/* The exit code of main. Every rank gives its own: the launcher fails if one does. */
__attribute__((unused)) static int testing_end(const char *name)
{
    if (testing_failures > 0)
        fprintf(stderr, "%s: rank %d: %ld of %ld checks failed\n", name, testing_rank,
                testing_failures, testing_checks);
    else if (testing_rank <= 0)
        printf("%s: %ld checks passed\n", name, testing_checks);
    return testing_failures > 0;
}

#endif
