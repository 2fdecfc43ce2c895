/* SPDX-License-Identifier: BSD-3-Clause */
/* leaves.h - what a datatype consists of. */
#ifndef CCO_LEAVES_H
#define CCO_LEAVES_H

#include <stdbool.h>

#include "mpi/mpi_compat.h"

/* True if no part of a type is a floating number, so that no operation of the program rounds. */
bool cco_leaves_are_exact(MPI_Datatype type);

#endif
