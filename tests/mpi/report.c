/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - what the checks of check/ say, told by the harness of the tests. */
#include "report.h"

#include "testing/testing.h"

void report_problem(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(testing_label, sizeof testing_label, format, args);
    va_end(args);
}

void report_good(void)
{
    testing_checks++;
}

void report_wrong(const struct wrong *w)
{
    char at[40] = "";
    if (w->at != NOWHERE)
        snprintf(at, sizeof at, ", byte %td", w->at);
    CHECK(!"as defined", "%s, %s%s: expected %s, found %s", w->mode, w->where, at, w->expected,
          w->found);
}

void report_left_out(const char *reason)
{
    if (testing_rank == 0)
        printf("left out: %s\n", reason);
}
