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
#define CCO_OPEN_MPI OMPI_MAJOR_VERSION
#define CCO_PRAGMA(text) _Pragma(#text)
#define CCO_WEAK(a, b, c) CCO_PRAGMA(weak a) CCO_PRAGMA(weak b) CCO_PRAGMA(weak c)
CCO_WEAK(ompi_mpi_comm_null, ompi_mpi_comm_self, ompi_mpi_comm_world)
CCO_WEAK(ompi_mpi_datatype_null, ompi_mpi_errhandler_null, ompi_mpi_errors_are_fatal)
CCO_WEAK(ompi_mpi_errors_return, ompi_mpi_group_null, ompi_mpi_info_null)
CCO_WEAK(ompi_mpi_integer1, ompi_mpi_integer2, ompi_mpi_integer16)
CCO_WEAK(ompi_mpi_real2, ompi_mpi_real16, ompi_mpi_complex4)
CCO_WEAK(ompi_mpi_complex32, ompi_mpi_byte, ompi_mpi_char)
CCO_WEAK(ompi_mpi_double, ompi_mpi_int, ompi_mpi_float)
CCO_WEAK(ompi_mpi_long, ompi_mpi_long_long_int, ompi_mpi_short)
CCO_WEAK(ompi_mpi_signed_char, ompi_mpi_unsigned, ompi_mpi_unsigned_long)
CCO_WEAK(ompi_mpi_unsigned_long_long, ompi_mpi_unsigned_short, ompi_mpi_unsigned_char)
CCO_WEAK(ompi_mpi_int8_t, ompi_mpi_int16_t, ompi_mpi_int32_t)
CCO_WEAK(ompi_mpi_int64_t, ompi_mpi_uint8_t, ompi_mpi_uint16_t)
CCO_WEAK(ompi_mpi_uint32_t, ompi_mpi_packed, ompi_mpi_uint64_t)
CCO_WEAK(ompi_mpi_2dblprec, ompi_mpi_2int, ompi_mpi_2integer)
CCO_WEAK(ompi_mpi_2real, ompi_mpi_aint, ompi_mpi_c_bool)
CCO_WEAK(ompi_mpi_c_double_complex, ompi_mpi_c_float_complex, ompi_mpi_c_long_double_complex)
CCO_WEAK(ompi_mpi_complex16, ompi_mpi_complex8, ompi_mpi_count)
CCO_WEAK(ompi_mpi_cplex, ompi_mpi_cxx_bool, ompi_mpi_cxx_cplex)
CCO_WEAK(ompi_mpi_cxx_dblcplex, ompi_mpi_cxx_ldblcplex, ompi_mpi_dblcplex)
CCO_WEAK(ompi_mpi_dblprec, ompi_mpi_double_int, ompi_mpi_float_int)
CCO_WEAK(ompi_mpi_integer, ompi_mpi_integer4, ompi_mpi_integer8)
CCO_WEAK(ompi_mpi_long_double, ompi_mpi_long_int, ompi_mpi_longdbl_int)
CCO_WEAK(ompi_mpi_offset, ompi_mpi_real, ompi_mpi_real4)
CCO_WEAK(ompi_mpi_real8, ompi_mpi_short_int, ompi_mpi_op_band)
CCO_WEAK(ompi_mpi_op_bor, ompi_mpi_op_bxor, ompi_mpi_op_land)
CCO_WEAK(ompi_mpi_op_lor, ompi_mpi_op_lxor, ompi_mpi_op_max)
CCO_WEAK(ompi_mpi_op_maxloc, ompi_mpi_op_min, ompi_mpi_op_minloc)
CCO_WEAK(ompi_mpi_op_null, ompi_mpi_op_no_op, ompi_mpi_op_prod)
CCO_WEAK(ompi_mpi_op_replace, ompi_mpi_op_sum, ompi_mpi_win_null)
CCO_WEAK(ompi_request_null, OMPI_C_MPI_COMM_NULL_COPY_FN, ompi_mpi_comm_null)
#if MPI_VERSION >= 4
CCO_PRAGMA(weak ompi_mpi_errors_abort)
#endif
#else
#define CCO_OPEN_MPI 0 /* another MPI */
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
