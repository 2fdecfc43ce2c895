/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - the intracommunicators the conformance test runs on, each made in another way. */
#ifndef CHECK_GROUPS_H
#define CHECK_GROUPS_H

#include "trial.h"

enum { GROUPS = 7 };
extern struct group groups[GROUPS]; /* groups[0] is MPI_COMM_WORLD */

void groups_make(void);
void groups_free(void);

#endif
