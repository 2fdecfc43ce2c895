/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h - one message between two ranks: it passes while what is under way moves on. */
#ifndef CCO_TRANSFER_H
#define CCO_TRANSFER_H

#include <stddef.h>

#include "core/mpi_compat.h"

/* Sends `bytes` of data to `peer`. */
void cco_transfer_to(MPI_Comm comm, int peer, int tag, const void *data, size_t bytes);

/* Receives them. */
void cco_transfer_from(MPI_Comm comm, int peer, int tag, void *data, size_t bytes);

#endif
