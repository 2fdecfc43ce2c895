/* SPDX-License-Identifier: BSD-3-Clause */
/* baseline.c - the loops for every processor of the architecture. */
#define LOOPS cco_loops_baseline
#define QUICK cco_quick_baseline
#include "reduce/kernels/loops.inc"
