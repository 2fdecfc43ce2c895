/* SPDX-License-Identifier: BSD-3-Clause */
/* data.h - elements of datatypes as bytes: packed, unpacked, copied; any count, MPI_BOTTOM too. */
#ifndef CCO_DATA_H
#define CCO_DATA_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>

/* True if the data of elements of this type are their memory, in order and without gaps, also from
 * one element to the next. */
bool cco_type_dense(MPI_Datatype type);

/* How a type was made (MPI_COMBINER_NAMED and so on); -1 if it is none.  MPI_Type_get_envelope
 * refuses types that were made with large counts. */
int cco_type_combiner(MPI_Datatype type);

/* True for types and operations of the standard, which nobody can free. */
bool cco_type_predefined(MPI_Datatype type);
bool cco_op_predefined(MPI_Op op);

/* True for a type of the program, which it may free; false for what is no type. */
bool cco_type_derived(MPI_Datatype type);

/* Also true for MPI_REPLACE and MPI_NO_OP, which no collective takes. */
bool cco_op_reserved(MPI_Op op);

/* `count` elements to as many bytes as they hold, or back.  Return MPI_SUCCESS or an MPI error
 * class. */
int cco_type_pack(char *to, const void *from, size_t count, MPI_Datatype type);
int cco_type_unpack(void *to, size_t count, MPI_Datatype type, const char *from);

/* One element, whatever its size: as a message of this process to itself, since MPI_Pack counts
 * bytes in int.  `back`: from its bytes. */
int cco_type_move_huge(char *packed, void *at, MPI_Datatype type, bool back);

/* The type of `count` elements as one element, for counts beyond `limit` (at most INT_MAX), which
 * no int says.  Committed; free it. */
int cco_wide_type(size_t count, MPI_Datatype type, size_t limit, MPI_Datatype *wide);

#endif
