/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - on what a tuning file was made, and whether it is what this is.
 *
 * python/crestacoll_tools/builds/machine.py names machine and MPI in the same way. */
#ifndef CCO_MACHINE_H
#define CCO_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cco_machine {
    char cpu[256]; /* model name of the processor; where Linux has none, its architecture */
    long long cores;
    char mpi[256]; /* name and version of the MPI library */
} cco_machine;

/* The machine of this process.  Ranks may differ. */
void cco_machine_here(cco_machine *here);

/* The first words of what an MPI says of itself: "Open MPI v4.1.4", without blanks in excess. */
void cco_machine_mpi(const char *library, char *name, size_t room);

/* True if they are the same; else `text` says of each what differs. */
bool cco_machine_same(const cco_machine *made, const cco_machine *here, char *text, size_t room);

#endif
