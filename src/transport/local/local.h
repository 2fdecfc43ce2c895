/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - the local steps of every transport that leaves datatypes and operations to
 * the MPI. */
#ifndef CCO_LOCAL_H
#define CCO_LOCAL_H

#include "sched/transport.h"

/* Copies data from one layout to another; reduces `from` and `into` into `into`.  `transfer` is not
 * used.  Return MPI_SUCCESS or an MPI error class. */
int cco_mpi_copy(void *transfer, const cco_data *from, const cco_data *to);
int cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                   const cco_reduce_op *op);

#endif
