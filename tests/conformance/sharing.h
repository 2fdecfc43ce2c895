/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.h - what ranks tell the leader of their node before an algorithm that asks for it. */
#ifndef SHARING_H
#define SHARING_H

#include "world.h"

/* Runs the schedules by which leaders get the counts of a problem, and compares these with
 * world_counts.  True, or what is wrong is in w->sim.why. */
bool sharing_works(world *w);

#endif
