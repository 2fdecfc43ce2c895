/* SPDX-License-Identifier: BSD-3-Clause */
/* run_list.h - a derived datatype as runs of memory, from how it was made (MPI 4.1, section
 * 5.1.13).  In the order of its type map, which is that of packed data. */
#ifndef CCO_RUN_LIST_H
#define CCO_RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/mpi_compat.h"

/* `times` runs of `bytes`, the first at `at` bytes from the address of an element, and `step` bytes
 * from one to the next. */
typedef struct cco_run_of {
    MPI_Aint at, step;
    size_t bytes, times;
} cco_run_of;

typedef struct cco_run_list {
    cco_run_of *runs; /* to be freed */
    size_t count, room;
} cco_run_list;

enum { CCO_RUN_LIST_MOST = 1024 };

/* False if there are more, or where it is not known how the type was made. */
bool cco_run_list_of(MPI_Datatype type, cco_run_list *list);

#endif
