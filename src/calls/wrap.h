/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.h - what a wrapper of src/calls/wrappers.c consists of. */
#ifndef CCO_CALLS_WRAP_H
#define CCO_CALLS_WRAP_H

#include "calls/count.h"
#include "calls/next.h"
#include "calls/places.h"
#include "calls/requests.h"

/* `next`: where the call goes on; of the type of `own`, whose address is not taken. */
#define CCO_CALLS_NEXT(x) CCO_CALLS_NEXT_OF(x, &P##x)
#define CCO_CALLS_NEXT_OF(x, own)                                                                  \
    static void *found;                                                                            \
    void *cco_there = __atomic_load_n(&found, __ATOMIC_RELAXED);                                   \
    if (__builtin_expect(cco_there == NULL, 0))                                                    \
        cco_there = cco_calls_next(#x, &found);                                                    \
    __typeof__(own) next;                                                                          \
    __builtin_memcpy(&next, &cco_there, sizeof next)

/* `start`: 0 where the call is not counted.  Taken in the wrapper, which has the frame. */
#define CCO_CALLS_ENTER(x)                                                                         \
    const uint64_t start = cco_calls_enter(CCO_CALLS_##x, __builtin_return_address(0),             \
                                           __builtin_frame_address(0))

/* What a call that failed has in its arguments is not looked at. */
#define CCO_CALLS_LEAVE(x, of, distance, bytes)                                                    \
    do {                                                                                           \
        if (__builtin_expect(start != 0, 1)) {                                                     \
            const uint64_t end = cco_ticks();                                                      \
            const bool good = rc == MPI_SUCCESS;                                                   \
            cco_calls_leave(                                                                       \
                start, end,                                                                        \
                (cco_calls_key){__builtin_return_address(0),                                       \
                                CCO_CALLS_WHAT(CCO_CALLS_##x, of, good ? (distance) : 0)},         \
                good ? (bytes) : 0);                                                               \
        }                                                                                          \
    } while (0)

/* For waits and tests: before the call, and after it. */
#define CCO_CALLS_LOOK(n, requests)                                                                \
    cco_calls_waited waited;                                                                       \
    waited.of = CCO_CALLS_OF_MESSAGES;                                                             \
    waited.count = 0;                                                                              \
    if (cco_calls_others_any())                                                                    \
    cco_calls_look(&waited, n, requests)
#define CCO_CALLS_ENDED(requests)                                                                  \
    if (waited.count > 0)                                                                          \
    cco_calls_ended(&waited, requests)

/* In Fortran.  `ierror` may be absent in mpi_f08. */
typedef void *cco_f;
#define CCO_F_INT(address) (*(const MPI_Fint *)(address))
#define CCO_F_LARGE(address) (*(const MPI_Count *)(address))
#define CCO_CALLS_F_NEXT(symbol, parameters)                                                       \
    static void *found;                                                                            \
    MPI_Fint code = MPI_SUCCESS;                                                                   \
    void *cco_there = __atomic_load_n(&found, __ATOMIC_RELAXED);                                   \
    if (__builtin_expect(cco_there == NULL, 0))                                                    \
        cco_there = cco_calls_next(#symbol, &found);                                               \
    ierror = ierror != NULL ? ierror : &code;                                                      \
    void(*next) parameters;                                                                        \
    __builtin_memcpy(&next, &cco_there, sizeof next)
#define CCO_CALLS_F_LOOK(n, requests)                                                              \
    cco_calls_waited waited;                                                                       \
    waited.of = CCO_CALLS_OF_MESSAGES;                                                             \
    waited.count = 0;                                                                              \
    if (cco_calls_others_any())                                                                    \
    cco_calls_look_fortran(&waited, n, requests)
#define CCO_CALLS_F_ENDED(requests)                                                                \
    if (waited.count > 0)                                                                          \
    cco_calls_ended_fortran(&waited, requests)

/* Compilers spell one name in four ways. */
#define CCO_F_SPELLING(spelling, target, parameters)                                               \
    CCO_EXPORT void spelling parameters __attribute__((alias(#target)));
#define CCO_F_SPELLINGS(low, UP, parameters)                                                       \
    CCO_F_SPELLING(mpi_##low, mpi_##low##_, parameters)                                            \
    CCO_F_SPELLING(mpi_##low##__, mpi_##low##_, parameters)                                        \
    CCO_F_SPELLING(MPI_##UP, mpi_##low##_, parameters)

#define CCO_CALLS_BEGUN(request, what)                                                             \
    if (rc == MPI_SUCCESS && start != 0)                                                           \
    cco_calls_begun(request, CCO_CALLS_OF_##what)

#endif
