/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h - two threads of each rank on two communicators. */
#ifndef CHANCE_PAIR_H
#define CHANCE_PAIR_H

#include "chance.h"

/* Each does some collectives on a duplicate of the slot of its own, whose first calls come in
 * whatever order.  Results go to two records, from `record` on. */
void pair_run(struct slot *of, dice d, int record);

#endif
