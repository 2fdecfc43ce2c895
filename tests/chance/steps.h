/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.h - the steps of a program. */
#ifndef CHANCE_STEPS_H
#define CHANCE_STEPS_H

#include "chance.h"

/* Runs the program of the seed, in this pass. */
void steps_run(void);

#endif
