/* SPDX-License-Identifier: BSD-3-Clause */
/* shares.h - reductions in two steps: each rank reduces a share. */
#ifndef CCO_SHM_SHARES_H
#define CCO_SHM_SHARES_H

#include "transport/shm/run.h"

/* Runs a reduction in shares.  MPI_SUCCESS or what an operation of the MPI returned. */
int cco_run_shares(const cco_run *r);

#endif
