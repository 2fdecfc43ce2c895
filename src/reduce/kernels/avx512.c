/* SPDX-License-Identifier: BSD-3-Clause */
/* avx512.c - the loops for x86-64 with AVX-512, in vectors of 512 bits.  Sums of doubles take 0.7
 * of the time that AVX2 takes if they lie in the first cache, 0.8 in the second, 1.1 if they are a
 * single vector (AMD EPYC 9005). */
#define LOOPS cco_loops_avx512
#define QUICK cco_quick_avx512
#include "reduce/kernels/loops.inc"
