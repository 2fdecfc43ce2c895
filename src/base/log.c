/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "config/config.h"
#include "base/hold_signals.h"
#include "mpi/mpi_compat.h"

/* One write per message, so that the lines of several ranks do not mix. */
static void log_print(const char *format, va_list arguments)
{
    char text[4096];
    cco_held_signals held;
    vsnprintf(text, sizeof text, format, arguments);
    cco_hold_signals(&held);
    fprintf(stderr, "crestacoll: %s\n", text);
    fflush(stderr);
    cco_let_signals_go(&held);
}

void cco_log(cco_log_level level, const char *format, ...)
{
    if (cco_configured.log < level)
        return;
    va_list arguments;
    va_start(arguments, format);
    log_print(format, arguments);
    va_end(arguments);
}

void cco_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_print(format, arguments);
    va_end(arguments);
}

void cco_fatal(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_print(format, arguments);
    va_end(arguments);
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000},
              NULL); /* launchers drop what they have not forwarded yet */
    PMPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}
