/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - what other languages need of exchanges besides cresta_multisend.h. */
#ifndef CCO_API_EXCHANGE_H
#define CCO_API_EXCHANGE_H

#include "mpi/mpi_compat.h"
#include "progress/exchange.h"

/* CRESTA_Exchange_take of the exchange that got `which` as its `sources`; NULL: of the oldest.  In
 * Python each has its own end, also one that was dropped and ends some time. */
CCO_EXPORT int cresta_exchange_take_of(const int *which, void *recvbuf, int sources[],
                                       int recvcounts[], int rdispls[], MPI_Datatype type,
                                       MPI_Comm comm);

/* CRESTA_Exchange and CRESTA_Exchange_begin; `copied` is NULL, or memory that holds the buffer and
 * is freed when nothing is sent from there any more. */
int cco_exchange_now(const cco_exchange_sends *sends, void *copied, int *sources, int *elements,
                     MPI_Comm comm);
int cco_exchange_begin(const cco_exchange_sends *sends, void *copied, int *sources, int *elements,
                       MPI_Comm comm, MPI_Request *request);

#endif
