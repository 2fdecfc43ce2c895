/* SPDX-License-Identifier: BSD-3-Clause */
/* preset.h - the algorithm for a problem where the user names none. */
#ifndef CCO_PRESET_H
#define CCO_PRESET_H

#include "algo/algo.h"

/* The algorithm that a user gets who names none: by what all ranks know.  `by_nodes`: also by where
 * they are, if the problem tells it. */
const cco_algo *cco_preset_algo(const cco_problem *q, bool by_nodes);

#endif
