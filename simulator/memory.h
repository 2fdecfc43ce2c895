/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - the memory of simulated ranks (sim.h): data move with a record of what was written,
 * and the first fault of a run is kept. */
#ifndef CCO_SIM_MEMORY_H
#define CCO_SIM_MEMORY_H

#include "simulator/sim.h"

/* Keeps the message as sim->why, if it is the first.  Returns false. */
__attribute__((format(printf, 2, 3))) bool cco_sim_wrong(cco_sim *sim, const char *format, ...);

/* Copies span `a` of rank `from` to span `b` of rank `to`.  False if one reaches outside of its
 * buffer, or reads what nobody wrote. */
bool cco_sim_move(cco_sim *sim, int from, cco_span a, int to, cco_span b);

/* Reduces span `a` of a rank into its span `b`, with an operation by its number; `fold`: all
 * operands of `a` (cco_fold_into).  False as above. */
bool cco_sim_reduce(cco_sim *sim, int rank, cco_span a, cco_span b, int operation, bool fold);

extern const char *const cco_sim_bases[CCO_BASES]; /* their names */

#endif
