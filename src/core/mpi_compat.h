/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_compat.h - where the MPIs differ: names of the persistent collectives, visibility, weak data,
 * handles. */
#ifndef CCO_MPI_COMPAT_H
#define CCO_MPI_COMPAT_H

#include <stdbool.h>

#include "crestacoll.h"

/* Open MPI 4 calls its persistent collectives MPIX_. */
#if defined(CRESTA_PERSISTENT_MPIX)
#define CCO_PMPI_INIT(name) PMPIX_##name
#define CCO_MPI_INIT(name) MPIX_##name
#else
#define CCO_PMPI_INIT(name) PMPI_##name
#define CCO_MPI_INIT(name) MPI_##name
#endif

#define CCO_EXPORT __attribute__((visibility("default")))

/* Open MPI's handles are addresses of data in libmpi.  Weak, so that the preload library, which
 * shares most objects with the others, can be loaded into a process without MPI (a shell between
 * the launcher and the program). */
#if defined(OPEN_MPI)
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_errhandler_null
#pragma weak ompi_mpi_errors_are_fatal
#if MPI_VERSION >= 4
#pragma weak ompi_mpi_errors_abort
#endif
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_mpi_integer1
#pragma weak ompi_mpi_integer2
#pragma weak ompi_mpi_integer16
#pragma weak ompi_mpi_real2
#pragma weak ompi_mpi_real16
#pragma weak ompi_mpi_complex4
#pragma weak ompi_mpi_complex32
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_char
#pragma weak ompi_mpi_double
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_float
#pragma weak ompi_mpi_long
#pragma weak ompi_mpi_long_long_int
#pragma weak ompi_mpi_short
#pragma weak ompi_mpi_signed_char
#pragma weak ompi_mpi_unsigned
#pragma weak ompi_mpi_unsigned_long
#pragma weak ompi_mpi_unsigned_long_long
#pragma weak ompi_mpi_unsigned_short
#pragma weak ompi_mpi_unsigned_char
#pragma weak ompi_mpi_int8_t
#pragma weak ompi_mpi_int16_t
#pragma weak ompi_mpi_int32_t
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_uint8_t
#pragma weak ompi_mpi_uint16_t
#pragma weak ompi_mpi_uint32_t
#pragma weak ompi_mpi_packed
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_mpi_2dblprec
#pragma weak ompi_mpi_2int
#pragma weak ompi_mpi_2integer
#pragma weak ompi_mpi_2real
#pragma weak ompi_mpi_aint
#pragma weak ompi_mpi_c_bool
#pragma weak ompi_mpi_c_double_complex
#pragma weak ompi_mpi_c_float_complex
#pragma weak ompi_mpi_c_long_double_complex
#pragma weak ompi_mpi_complex16
#pragma weak ompi_mpi_complex8
#pragma weak ompi_mpi_count
#pragma weak ompi_mpi_cplex
#pragma weak ompi_mpi_cxx_bool
#pragma weak ompi_mpi_cxx_cplex
#pragma weak ompi_mpi_cxx_dblcplex
#pragma weak ompi_mpi_cxx_ldblcplex
#pragma weak ompi_mpi_dblcplex
#pragma weak ompi_mpi_dblprec
#pragma weak ompi_mpi_double_int
#pragma weak ompi_mpi_float_int
#pragma weak ompi_mpi_integer
#pragma weak ompi_mpi_integer4
#pragma weak ompi_mpi_integer8
#pragma weak ompi_mpi_long_double
#pragma weak ompi_mpi_long_int
#pragma weak ompi_mpi_longdbl_int
#pragma weak ompi_mpi_offset
#pragma weak ompi_mpi_real
#pragma weak ompi_mpi_real4
#pragma weak ompi_mpi_real8
#pragma weak ompi_mpi_short_int
#pragma weak ompi_mpi_op_band
#pragma weak ompi_mpi_op_bor
#pragma weak ompi_mpi_op_bxor
#pragma weak ompi_mpi_op_land
#pragma weak ompi_mpi_op_lor
#pragma weak ompi_mpi_op_lxor
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_maxloc
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_minloc
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_no_op
#pragma weak ompi_mpi_op_prod
#pragma weak ompi_mpi_op_replace
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_win_null
#pragma weak ompi_request_null
#pragma weak OMPI_C_MPI_COMM_NULL_COPY_FN
#endif

/* MPICH's handles: two bits that are 0 for none, four that say of what it is one, as those of
 * `like` do, then a number. */
#define CCO_IS_HANDLE(handle, like)                                                                \
    ((unsigned)(handle) >> 30 != 0 && (((unsigned)(handle) ^ (unsigned)(like)) >> 26 & 15) == 0)

/* False for MPI_DATATYPE_NULL, and for what can be seen to be no handle of a type, such as a
 * variable that was never set; the next for operations. */
static inline bool cco_is_type(MPI_Datatype type)
{
#if defined(MPICH_NUMVERSION) || defined(I_MPI_NUMVERSION)
    return CCO_IS_HANDLE(type, MPI_INT);
#else
    return type != MPI_DATATYPE_NULL && type != (MPI_Datatype)0;
#endif
}

static inline bool cco_is_op(MPI_Op op)
{
#if defined(MPICH_NUMVERSION) || defined(I_MPI_NUMVERSION)
    return CCO_IS_HANDLE(op, MPI_SUM);
#else
    return op != MPI_OP_NULL && op != (MPI_Op)0;
#endif
}

#endif
