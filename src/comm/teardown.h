/* SPDX-License-Identifier: BSD-3-Clause */
/* teardown.h - ends that are collective, such as MPI_Win_free, many of them at once: at the end of
 * the process, or when a program gives everything back.
 *
 * Ranks may have met their communicators in different orders (threads, non-blocking calls), and
 * would wait for each other for ever if they ended things in such an order.  So things get numbers
 * that all their ranks know, and end by these. */
#ifndef CCO_TEARDOWN_H
#define CCO_TEARDOWN_H

#include "mpi/mpi_compat.h"
#include <stdint.h>

/* A number for a thing of the ranks of `comm`, the same on all of them; collective. */
uint64_t cco_teardown_number(MPI_Comm comm);

/* Calls end(what), which frees `what`, a block of memory of its own: now, or in cco_teardowns_run
 * if this thread collects. */
void cco_teardown(uint64_t number, void (*end)(void *what), void *what);

/* Between these, the ends that come up on this thread are collected; then they happen. */
void cco_teardowns_collect(void);
void cco_teardowns_run(void);

#endif
