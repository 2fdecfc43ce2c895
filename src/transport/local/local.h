/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h - the local steps of every transport that leaves datatypes and operations to
 * the MPI. */
#ifndef CCO_LOCAL_H
#define CCO_LOCAL_H

#include <string.h>

#include "sched/transport.h"

/* Copies data from one layout to another; reduces `from` and `into` into `into`.  `transfer` is not
 * used.  Return MPI_SUCCESS or an MPI error class. */
int cco_mpi_copy(void *transfer, const cco_data *from, const cco_data *to);
int cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                   const cco_reduce_op *op);

/* Inline for the usual case: one element without gaps, an operation that has a kernel. */
static inline int cco_local_copy(void *transfer, const cco_data *from, const cco_data *to)
{
    const size_t n = cco_data_bytes(from);
    if (n != sizeof(double) || !from->layout->dense || !to->layout->dense) {
        const cco_data source = *from, target = *to; /* memory for these only here */
        return cco_mpi_copy(transfer, &source, &target);
    }
    memcpy(to->at, from->at, sizeof(double));
    return MPI_SUCCESS;
}

static inline int cco_local_reduce(void *transfer, const cco_data *from, const cco_data *into,
                                   const cco_reduce_op *op)
{
    if (op->kernel == NULL) {
        const cco_data left = *from, right = *into;
        return cco_mpi_reduce(transfer, &left, &right, op);
    }
    op->kernel(from->at, into->at, into->at, into->count);
    return MPI_SUCCESS;
}

#endif
