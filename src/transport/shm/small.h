/* SPDX-License-Identifier: BSD-3-Clause */
/* small.h - small calls, in one piece. */
#ifndef CCO_SHM_SMALL_H
#define CCO_SHM_SMALL_H

#include "transport/shm/run.h"

/* Runs a call in one piece. MPI_SUCCESS or what an operation of the MPI returned. */
int cco_run_small(const cco_run *r);

#endif
