/* SPDX-License-Identifier: BSD-3-Clause */
/* shares.h - reductions in two steps: each rank reduces a share. */
#ifndef CCO_SHM_SHARES_H
#define CCO_SHM_SHARES_H

#include "transport/shm/run.h"

/* Shows where this rank's operand is, and looks where those of the others are.  True, on all ranks,
 * if none needs a slot. */
bool cco_run_shares_found(const cco_run *r);

/* Runs a reduction in shares; after cco_run_shares_found, if that was true.  MPI_SUCCESS or what an
 * operation of the MPI returned. */
int cco_run_shares(const cco_run *r);

#endif
