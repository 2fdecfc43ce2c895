/* SPDX-License-Identifier: BSD-3-Clause */
/* testing.h - the tiny harness: CHECK counts failures, the exit code decides, a watchdog names what
 * hangs.
 *
 *     int main(void) { CHECK(1 + 1 == 2, "sum of %d and %d", 1, 1); return testing_end("name"); }
 *
 * What is to be tried under several implementations takes a list of them, "p2p,shm", and goes
 * through it by testing_each: one launch for all.
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

enum { TESTING_SHOWN = 12 }; /* failures shown per process and implementation; all are counted */

#define SHARED __attribute__((weak)) /* one variable in a program of several files */
SHARED long testing_checks, testing_failures;
SHARED int testing_rank = -1;             /* for messages; -1: not an MPI program */
SHARED char testing_label[512] = "start"; /* what runs now: failures and the watchdog show it */
SHARED const char *testing_impl = "";     /* under which implementation; both show it, too */
SHARED unsigned testing_seconds;          /* of the watchdog */
SHARED int testing_shown;

__attribute__((format(printf, 5, 6), unused)) static int
testing_check(int good, const char *condition, const char *file, int line, const char *format, ...)
{
    testing_checks++;
    testing_failures += !good;
    if (good || testing_shown++ >= TESTING_SHOWN)
        return good;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "FAIL rank %d %s:%d: %s [%s]\n    in: %s%s%s\n", testing_rank, file, line, text,
            condition, testing_impl, *testing_impl ? ": " : "", testing_label);
    return good;
}

static void testing_alarm(int signal)
{
    const char *const texts[] = {"\nFAIL: no progress; hangs in: ", testing_impl, " ",
                                 testing_label, "\n"};
    (void)signal;
    for (int i = 0; i < LEN(texts); i++)
        (void)!write(2, texts[i], strlen(texts[i]));
    _exit(124);
}

/* Stop this process with a message if it has not ended after so many seconds on a machine without
 * other load, and TESTING_LOAD times as many in any case: ranks that wait in the MPI for ranks that
 * have no core get very slow. */
enum { TESTING_LOAD = 5 };
__attribute__((unused)) static void testing_watchdog(unsigned seconds)
{
    testing_seconds = TESTING_LOAD * seconds;
    signal(SIGALRM, testing_alarm);
    alarm(testing_seconds);
}

/* Runs a test under each implementation of a list with commas. Each has the seconds of the watchdog
 * for itself, and tells its checks. */
__attribute__((unused)) static void testing_each(const char *list, void (*run)(const char *impl))
{
    static char names[512];
    char *rest = names;
    snprintf(names, sizeof names, "%s", list);
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        const long checks = testing_checks, failures = testing_failures;
        testing_impl = name;
        testing_shown = 0;
        snprintf(testing_label, sizeof testing_label, "start");
        alarm(testing_seconds);
        run(name);
        if (testing_rank <= 0 || testing_failures > failures)
            printf("%s: %ld checks, %ld failed\n", name, testing_checks - checks,
                   testing_failures - failures);
    }
    testing_impl = "";
    alarm(testing_seconds);
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
