/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.h - a job that hangs tells what each rank is in (CRESTA_WATCHDOG,
 * CRESTA_WATCHDOG_SIGNAL).
 *
 * Each process has a thread that sleeps until it is asked: by `crestacoll run` over a socket, by
 * `crestacoll hang` over another, by a signal; and that looks now and then whether a thread of the
 * program has been in one call for too long.  Then it tells `crestacoll run`, which asks all ranks,
 * or writes a line to stderr where there is none.  It never calls the MPI, which may be what
 * hangs. */
#ifndef CCO_ROLLCALL_H
#define CCO_ROLLCALL_H

#include <stdbool.h>

/* After the environment was read.  In MPI_Init it is collective; otherwise there may be no
 * MPI_COMM_WORLD, and nothing is communicated. */
void cco_rollcall_begin(void);
void cco_rollcall_begin_late(void);

/* In MPI_Finalize, and before: it says that this rank has come there.  No thread is left. */
void cco_rollcall_finalizes(void);
void cco_rollcall_end(void);

#endif
