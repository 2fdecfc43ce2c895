/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals_merge.h - ranks learn when the last of them arrived in the calls that they kept. */
#ifndef CCO_ARRIVALS_MERGE_H
#define CCO_ARRIVALS_MERGE_H

#include "profile/common_clock.h"
#include "mpi/mpi_compat.h"
#include "profile/arrivals.h"

/* Collective over `comm`, which is like the world.  Sets are sorted; of each there is left what
 * all ranks of its communicator have: with `waited` instead of `call`.  `line` and `clock` are
 * those of cco_common_clock. */
void cco_arrivals_merge(MPI_Comm comm, cco_arrival_sets *sets, const cco_clock_line *line,
                        int clock);

#endif
