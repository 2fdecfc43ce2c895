/* SPDX-License-Identifier: BSD-3-Clause */
/* known.h - faults of the MPI itself, each shown by mpi_bugs.c in plain MPI; only what meets one is
 * left out. */
#ifndef CHECK_KNOWN_H
#define CHECK_KNOWN_H

#include "call.h"

/* True if blocking calls end at the MPI's own blocking calls. */
extern bool known_native_blocking;

/* Why the MPI itself gets this call wrong, or NULL. The answer is equal on all ranks of the
 * communicator. */
const char *known_bug(const struct call *call, enum mode mode, bool in_place);

/* Why a communicator must not be freed while an operation on it is under way, or NULL. */
const char *known_bug_free_in_flight(void);

/* Say once per reason that something is left out. */
void known_report(const char *reason);

#endif
