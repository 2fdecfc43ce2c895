/* SPDX-License-Identifier: BSD-3-Clause */
/* avx2.c - the loops for x86-64 with AVX2: twice as fast as the baseline in the first cache. */
#define LOOPS cco_loops_avx2
#define QUICK cco_quick_avx2
#include "reduce/kernels/loops.inc"
