/* SPDX-License-Identifier: BSD-3-Clause */
/* flat.h - collectives of small data on a board: every rank shows what it gives, and reads what it
 * needs from all others itself.
 *
 * After the flat algorithms of shared memory in R. L. Graham, G. Shipman: MPI support for
 * multi-core architectures: optimized shared memory collectives, EuroPVM/MPI 2008. */
#ifndef CCO_FLAT_H
#define CCO_FLAT_H

#include "sched/engine.h"
#include "transport/shm/board.h"

/* Bytes that the rank with most of them shows: all ranks know the same.  SIZE_MAX for the
 * collectives whose sizes only some know. */
size_t cco_flat_shown(const cco_problem *q);

/* Runs it on a board whose slots have room; data without gaps.  MPI_SUCCESS or what an operation of
 * the MPI returned. */
int cco_flat_run(cco_board *b, const cco_problem *q, const cco_binding *binding);

#endif
