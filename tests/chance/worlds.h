/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.h - the communicator that a launch's programs begin with. */
#ifndef CHANCE_WORLDS_H
#define CHANCE_WORLDS_H

#include "chance.h"

enum { WORLD_NONE = 77 }; /* exit code: this MPI has no such world here */

/* "init", "session" (no MPI_Init), "both" (a session, used by some ranks, then MPI_Init) or "spawn"
 * (merged with two more processes).  Sets program.world; returns 0 or WORLD_NONE. */
int world_begin(const char *name, int *argc, char ***argv);

/* In the reverse order. */
void world_end(void);

#endif
