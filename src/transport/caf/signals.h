/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h - words told to other images by small messages of the MPI.
 *
 * What Fortran has for that is atomic_define, for which OpenCoarrays locks the window of the other
 * image, accumulates and unlocks.  MPICH exchanges messages for the lock and the unlock, and takes
 * ten times as long as for a message with the word.  Open MPI takes less than for a message, inside
 * a node. */
#ifndef CCO_SIGNALS_H
#define CCO_SIGNALS_H

#include "mpi/mpi_compat.h"
#include <stddef.h>
#include <stdint.h>

#if defined(MPICH_VERSION)
#define CCO_SIGNALS_PAY 1
#else
#define CCO_SIGNALS_PAY 0
#endif

/* Signals between the ranks of `images` (image i is its rank i - 1) from now on, about the memory
 * at `base`; collective.  Returns MPI_SUCCESS or an MPI error class. */
int cco_signals_begin(MPI_Comm images, char *base);

/* Tells `word` to an image, for the place `at` bytes behind its base: there after a
 * cco_signals_receive of that image, and after all that this one told it before.  Waits for no more
 * than the MPI's buffers. */
int cco_signals_send(int image, size_t at, uint32_t word);

/* Writes what others have told to where it belongs; lets the MPI get on.  Leaves it to another
 * thread that is at it. */
int cco_signals_receive(void);

/* All signals have been received then.  Collective; does nothing where nothing was begun. */
void cco_signals_end(void);

#endif
