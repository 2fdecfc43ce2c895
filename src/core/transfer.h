/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h - one message between two ranks: it passes while what is under way moves on, or is
 * given up. */
#ifndef CCO_TRANSFER_H
#define CCO_TRANSFER_H

#include <stddef.h>

#include "core/mpi_compat.h"

/* Sends `bytes` of data to `peer`. */
void cco_transfer_to(MPI_Comm comm, int peer, int tag, const void *data, size_t bytes);

/* Receives them. */
void cco_transfer_from(MPI_Comm comm, int peer, int tag, void *data, size_t bytes);

/* A message under way that nobody waits for any more: `*request` is MPI_REQUEST_NULL then.
 *
 * Under ULFM a send that fails after MPI_Request_free ends the job (Open MPI 5.0: "Send error after
 * request freed"), so that there such a request stays for ever, which is some hundred bytes. */
void cco_transfer_give_up(MPI_Request *request);

#endif
