/* SPDX-License-Identifier: BSD-3-Clause */
/* env_watchdog.c - the values of CRESTA_WATCHDOG and CRESTA_WATCHDOG_SIGNAL. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/env_kinds.h"

static void env_watchdog_expected(const cco_env_value *v, const char *what)
{
    snprintf(v->error, sizeof cco_configured.error, "%s=%.40s: expected %s", v->row->name, v->text,
             what);
}

/* off, ask, SECONDS or SECONDS:end. */
static void read_watchdog(void *member, const cco_env_value *v)
{
    enum { MOST = 1000000 };
    cco_watchdog *w = member;
    char *end = NULL;
    *w = (cco_watchdog){0};
    if (strcmp(v->text, "off") == 0)
        return;
    w->on = true;
    if (strcmp(v->text, "ask") == 0)
        return;
    const unsigned long seconds = strtoul(v->text, &end, 10);
    const bool number = *v->text >= '1' && *v->text <= '9' && seconds <= MOST;
    w->seconds = number ? (unsigned)seconds : 0;
    w->ends = number && strcmp(end, ":end") == 0;
    if (!number || (*end != '\0' && !w->ends)) {
        *w = (cco_watchdog){0};
        env_watchdog_expected(
            v, "a number of seconds from 1 to 1000000, perhaps with :end, or ask, or off");
    }
}

static void show_watchdog(const void *member, char *text)
{
    const cco_watchdog *w = member;
    if (w->seconds > 0)
        snprintf(text, CCO_VALUE, "%u%s", w->seconds, w->ends ? ":end" : "");
    else
        snprintf(text, CCO_VALUE, "%s", w->on ? "ask" : "off");
}

/* Those that neither the MPIs nor the kernel need for something else. */
static const struct {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"HUP", SIGHUP},
               {"QUIT", SIGQUIT}, {"WINCH", SIGWINCH}, {"PROF", SIGPROF}};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void read_signal(void *member, const cco_env_value *v)
{
    int *number = member;
    const char *name = strncmp(v->text, "SIG", 3) == 0 ? v->text + 3 : v->text;
    *number = 0;
    for (int i = 0; i < SIGNALS; i++)
        if (strcmp(name, signals[i].name) == 0)
            *number = signals[i].number;
    if (*number == 0 && *v->text != '\0')
        env_watchdog_expected(v, "USR1, USR2, HUP, QUIT, WINCH or PROF");
}

static void show_signal(const void *member, char *text)
{
    *text = '\0';
    for (int i = 0; i < SIGNALS; i++)
        if (*(const int *)member == signals[i].number)
            cco_show_text(signals[i].name, text);
}

const cco_env_kind cco_kind_watchdog = {read_watchdog, show_watchdog};
const cco_env_kind cco_kind_signal = {read_signal, show_signal};
