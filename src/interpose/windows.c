/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c - MPI_Win_allocate, MPI_Win_allocate_shared and the accumulates, in the linked library
 * too: accumulates on windows whose ranks share memory may be ours (window/shared_window.h).
 *
 * Where none are, an accumulate reads one number more than the MPI's own. */
#include "extensions/atomics.h"
#include "base/next.h"
#include "window/accumulate.h"

/* The window is made: by the MPI, or by a tool behind us. */
static int interpose_windows_made(int rc, MPI_Win *win, MPI_Comm comm)
{
    if (rc == MPI_SUCCESS)
        cco_atomics_window(*win, comm);
    return rc;
}

CCO_EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                void *baseptr, MPI_Win *win)
{
    return interpose_windows_made(
        CCO_CALL_NEXT(Win_allocate, (size, disp_unit, info, comm, baseptr, win)), win, comm);
}

CCO_EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                       void *baseptr, MPI_Win *win)
{
    return interpose_windows_made(
        CCO_CALL_NEXT(Win_allocate_shared, (size, disp_unit, info, comm, baseptr, win)), win, comm);
}

CCO_EXPORT int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank,
                                MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    cco_shared_window *w = cco_shared_window_of(win);
    if (w != NULL && cco_fetch_and_op(w, origin, result, type, rank, disp, op))
        return MPI_SUCCESS;
    return CCO_CALL_NEXT(Fetch_and_op, (origin, result, type, rank, disp, op, win));
}

CCO_EXPORT int MPI_Compare_and_swap(const void *origin, const void *compare, void *result,
                                    MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win)
{
    cco_shared_window *w = cco_shared_window_of(win);
    if (w != NULL && cco_compare_and_swap(w, origin, compare, result, type, rank, disp))
        return MPI_SUCCESS;
    return CCO_CALL_NEXT(Compare_and_swap, (origin, compare, result, type, rank, disp, win));
}

/* The accumulates, with counts of type C and names that end in S.  A call that is ours has ended
 * when it returns, and its request is one that has. */
#define ACCUMULATES(S, C)                                                                          \
    CCO_EXPORT int MPI_Accumulate##S(const void *origin, C origin_count, MPI_Datatype origin_type, \
                                     int rank, MPI_Aint disp, C count, MPI_Datatype type,          \
                                     MPI_Op op, MPI_Win win)                                       \
    {                                                                                              \
        int rc;                                                                                    \
        if (CCO_ATOMICS_ACCUMULATE(origin, origin_count, origin_type, rank, disp, count, type, op, \
                                   win, NULL, &rc))                                                \
            return rc;                                                                             \
        return CCO_CALL_NEXT(                                                                      \
            Accumulate##S, (origin, origin_count, origin_type, rank, disp, count, type, op, win)); \
    }                                                                                              \
    CCO_EXPORT int MPI_Raccumulate##S(                                                             \
        const void *origin, C origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,     \
        C count, MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *request)                  \
    {                                                                                              \
        int rc;                                                                                    \
        if (CCO_ATOMICS_ACCUMULATE(origin, origin_count, origin_type, rank, disp, count, type, op, \
                                   win, request, &rc))                                             \
            return rc;                                                                             \
        return CCO_CALL_NEXT(Raccumulate##S, (origin, origin_count, origin_type, rank, disp,       \
                                              count, type, op, win, request));                     \
    }                                                                                              \
    CCO_EXPORT int MPI_Get_accumulate##S(const void *origin, C origin_count,                       \
                                         MPI_Datatype origin_type, void *result, C result_count,   \
                                         MPI_Datatype result_type, int rank, MPI_Aint disp,        \
                                         C count, MPI_Datatype type, MPI_Op op, MPI_Win win)       \
    {                                                                                              \
        int rc;                                                                                    \
        if (CCO_ATOMICS_FETCH(origin, origin_count, origin_type, result, result_count,             \
                              result_type, rank, disp, count, type, op, win, NULL, &rc))           \
            return rc;                                                                             \
        return CCO_CALL_NEXT(Get_accumulate##S,                                                    \
                             (origin, origin_count, origin_type, result, result_count,             \
                              result_type, rank, disp, count, type, op, win));                     \
    }                                                                                              \
    CCO_EXPORT int MPI_Rget_accumulate##S(                                                         \
        const void *origin, C origin_count, MPI_Datatype origin_type, void *result,                \
        C result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, C count,                \
        MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *request)                           \
    {                                                                                              \
        int rc;                                                                                    \
        if (CCO_ATOMICS_FETCH(origin, origin_count, origin_type, result, result_count,             \
                              result_type, rank, disp, count, type, op, win, request, &rc))        \
            return rc;                                                                             \
        return CCO_CALL_NEXT(Rget_accumulate##S,                                                   \
                             (origin, origin_count, origin_type, result, result_count,             \
                              result_type, rank, disp, count, type, op, win, request));            \
    }

ACCUMULATES(, int)

#if defined(CRESTA_HAVE_LARGE_COUNT)
ACCUMULATES(_c, MPI_Count)

CCO_EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                                  void *baseptr, MPI_Win *win)
{
    return interpose_windows_made(
        CCO_CALL_NEXT(Win_allocate_c, (size, disp_unit, info, comm, baseptr, win)), win, comm);
}

CCO_EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                         MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    return interpose_windows_made(
        CCO_CALL_NEXT(Win_allocate_shared_c, (size, disp_unit, info, comm, baseptr, win)), win,
        comm);
}
#endif
