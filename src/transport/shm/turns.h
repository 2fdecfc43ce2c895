/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - reductions of elements that fit in no slot: the operand of one rank after the other
 * goes to whom it concerns, as bytes, and is combined when it is complete. */
#ifndef CCO_SHM_TURNS_H
#define CCO_SHM_TURNS_H

#include "transport/shm/flat.h"

/* Runs a reduction of packed bytes (binding->elements) that does not fit (cco_flat_fits) over `n`
 * slot rings; `rooms`, `crowded` as for cco_flat_plan.  MPI_SUCCESS, MPI_ERR_NO_MEM, or what an
 * operation of the MPI returned. */
int cco_turns_run(cco_slot_ring *rings, const size_t *rooms, int n, bool crowded,
                  const cco_problem *q, const cco_binding *binding);

#endif
