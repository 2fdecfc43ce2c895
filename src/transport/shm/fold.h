/* SPDX-License-Identifier: BSD-3-Clause */
/* fold.h - reduces what several ranks show. */
#ifndef CCO_SHM_FOLD_H
#define CCO_SHM_FOLD_H

#include "transport/shm/run.h"

/* to = from[first] op ... op from[last], in this order, so that every rank gets the same bits; `n`
 * bytes.  This rank's own operand may be where the result goes.  With a `fold` among the binding's
 * operations, it combines all operands at once. */
int cco_run_fold(const cco_run *r, const char **from, int first, int last, char *to, size_t n);

#endif
