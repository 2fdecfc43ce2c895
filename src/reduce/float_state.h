/* SPDX-License-Identifier: BSD-3-Clause */
/* float_state.h - the floating-point environment of the program, left for a moment. */
#ifndef CCO_FLOAT_STATE_H
#define CCO_FLOAT_STATE_H

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

/* Programs change how their processor rounds, let subnormal numbers be zeros for speed, or ask for
 * a signal at an overflow.  None of this may tell in a result, nor may what we do be seen. */
#if defined(__SSE2__)
typedef unsigned cco_float_state;

static inline cco_float_state cco_float_enter(void)
{
    enum { EVENTS = 0x3f, STANDARD = 0x1f80 };
    const cco_float_state before = _mm_getcsr();
    if ((before & ~(unsigned)EVENTS) != STANDARD)
        _mm_setcsr(STANDARD);
    return before;
}

static inline void cco_float_leave(cco_float_state before)
{
    _mm_setcsr(before);
}
#else
typedef fenv_t cco_float_state;

static inline cco_float_state cco_float_enter(void)
{
    cco_float_state before;
    feholdexcept(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline void cco_float_leave(cco_float_state before)
{
    fesetenv(&before);
}
#endif

#endif
