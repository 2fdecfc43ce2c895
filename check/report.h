/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - where the checks say what they do and what is wrong.  Every program that is made of
 * them defines these functions: crestacoll-check in report.c, the tests in tests/mpi/report.c. */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "call.h"

#include <stddef.h>
#include <stdint.h>

enum { NOWHERE = -1000000, SHOWN = 64 }; /* characters of what was expected and found */

struct wrong {
    enum coll coll;
    const char *mode;  /* how the call was made; reference_mode: by the MPI itself */
    const char *where; /* "receive buffer" */
    ptrdiff_t at;      /* byte in it, below 0 in front of it; NOWHERE: the whole is meant */
    char expected[SHOWN], found[SHOWN];
};
extern const char reference_mode[];

/* What is tried from now on. */
__attribute__((format(printf, 1, 2))) void report_problem(const char *format, ...);

void report_good(void);
void report_wrong(const struct wrong *wrong);

/* Something is not tried, because the MPI itself is known to get it wrong. */
void report_left_out(const char *reason);

/* A return code: good if MPI_SUCCESS. */
void report_code(enum coll coll, const char *mode, int rc);

#endif
