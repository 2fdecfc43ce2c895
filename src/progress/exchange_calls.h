/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_calls.h - begins sparse exchanges (progress/exchanges.h), and moves them: whoever polls
 * the queue (progress/queue.h) does. */
#ifndef CCO_EXCHANGE_CALLS_H
#define CCO_EXCHANGE_CALLS_H

#include "progress/exchanges.h"

/* Begins it, with a request that ends it, and keeps copies of its lists and its type. */
void cco_exchange_start(cco_exchange_call *call, MPI_Request *request);

/* Begins it, and waits for its end.  Returns MPI_SUCCESS or an MPI error class. */
int cco_exchange_wait(cco_exchange_call *call);

#endif
