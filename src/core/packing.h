/* SPDX-License-Identifier: BSD-3-Clause */
/* packing.h - elements of datatypes as bytes: packed and unpacked; any count, MPI_BOTTOM too. */
#ifndef CCO_PACKING_H
#define CCO_PACKING_H

#include <stddef.h>

#include "core/mpi_compat.h"

/* `count` elements to as many bytes as they hold, or back.  Return MPI_SUCCESS or an MPI error
 * class. */
int cco_type_pack(char *to, const void *from, size_t count, MPI_Datatype type);
int cco_type_unpack(void *to, size_t count, MPI_Datatype type, const char *from);

#endif
