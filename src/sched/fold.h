/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.h - the reductions of a schedule, of two operands or of many. */
#ifndef CCO_SCHED_FOLD_H
#define CCO_SCHED_FOLD_H

#include "sched/transport.h"

/* into = from op into, or, if the step folds (cco_fold_into), all operands of `from`, as long as
 * `into`, in their order.  Returns MPI_SUCCESS or an MPI error class. */
int cco_fold_run(const cco_transport *transport, void *transfer, bool folds, const cco_data *from,
                 const cco_data *into, const cco_reduce_op *op);

#endif
