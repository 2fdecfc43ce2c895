/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - a schedule as text. */
#ifndef CCO_PRINT_H
#define CCO_PRINT_H

#include <stdio.h>

#include "sched/step.h"

/* One step a line, rounds numbered from 0:
 *   1 send    out[24..32] -> 3
 *   2 reduce  tmp[0..8] into out[8..16]
 *   3 put     out[0..8] -> 3 slot 0 at 16
 * Places are bytes of memory from the base; those in a slot are bytes of its data. */
void cco_print(const cco_sched *s, FILE *file);

#endif
