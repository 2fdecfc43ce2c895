/* SPDX-License-Identifier: BSD-3-Clause */
/* accumulate.h - the accumulates of MPI-RMA (MPI 4.1, section 12.3.4 to 12.3.7) on windows whose
 * accumulates are ours (shared_window.h): done when the function returns.
 *
 * Each returns false, and has done nothing, where an argument is wrong, the target is MPI_PROC_NULL
 * or there is nothing to do: the call then goes to the MPI, which says what is wrong. */
#ifndef CCO_ACCUMULATE_H
#define CCO_ACCUMULATE_H

#include <stdbool.h>

#include "window/shared_window.h"

typedef struct cco_rma_data {
    void *at;
    MPI_Count count;
    MPI_Datatype type;
} cco_rma_data;

typedef struct cco_accumulate {
    cco_rma_data origin;
    cco_rma_data result; /* if it fetches */
    bool fetches;
    int rank; /* the target, and there: */
    MPI_Aint disp;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
} cco_accumulate;

/* `*rc`: MPI_SUCCESS, or an error class when memory runs out, before anything was changed. */
bool cco_accumulate_all(cco_shared_window *w, const cco_accumulate *a, int *rc);

bool cco_fetch_and_op(cco_shared_window *w, const void *origin, void *result, MPI_Datatype type,
                      int rank, MPI_Aint disp, MPI_Op op);

bool cco_compare_and_swap(cco_shared_window *w, const void *origin, const void *compare,
                          void *result, MPI_Datatype type, int rank, MPI_Aint disp);

#endif
