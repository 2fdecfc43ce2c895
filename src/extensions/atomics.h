/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.h - accumulates of the program on windows whose ranks share memory, in C and Fortran. */
#ifndef CCO_ATOMICS_H
#define CCO_ATOMICS_H

#include <stdbool.h>

#include "window/accumulate.h"

/* The MPI has made a window by MPI_Win_allocate or MPI_Win_allocate_shared.  Collective over
 * `comm`. */
void cco_atomics_window(MPI_Win win, MPI_Comm comm);

/* True if the accumulate is done; `*rc` is what it returns then.  With `request`, that becomes one
 * that has ended. */
bool cco_atomics_accumulate(cco_shared_window *w, MPI_Win win, const cco_accumulate *a,
                            MPI_Request *request, int *rc);

/* It with the arguments of MPI_Accumulate and MPI_Get_accumulate, or their request forms. */
#define CCO_ATOMICS_ACCUMULATE(origin, origin_count, origin_type, rank, disp, count, type, op,     \
                               win, request, rc)                                                   \
    ({                                                                                             \
        cco_shared_window *cco_w = cco_shared_window_of(win);                                      \
        cco_w != NULL &&cco_atomics_accumulate(                                                    \
                     cco_w, win,                                                                   \
                     &(cco_accumulate){{(void *)(origin), (origin_count), (origin_type)},          \
                                       {NULL, 0, MPI_DATATYPE_NULL},                               \
                                       false,                                                      \
                                       (rank),                                                     \
                                       (disp),                                                     \
                                       (count),                                                    \
                                       (type),                                                     \
                                       (op)},                                                      \
                     request, rc);                                                                 \
    })
#define CCO_ATOMICS_FETCH(origin, origin_count, origin_type, result, result_count, result_type,    \
                          rank, disp, count, type, op, win, request, rc)                           \
    ({                                                                                             \
        cco_shared_window *cco_w = cco_shared_window_of(win);                                      \
        cco_w != NULL &&cco_atomics_accumulate(                                                    \
                     cco_w, win,                                                                   \
                     &(cco_accumulate){{(void *)(origin), (origin_count), (origin_type)},          \
                                       {(result), (result_count), (result_type)},                  \
                                       true,                                                       \
                                       (rank),                                                     \
                                       (disp),                                                     \
                                       (count),                                                    \
                                       (type),                                                     \
                                       (op)},                                                      \
                     request, rc);                                                                 \
    })

#endif
