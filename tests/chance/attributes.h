/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.h - attributes of the program, whose functions nobody but the program's own calls may
 * cause to run. */
#ifndef CHANCE_ATTRIBUTES_H
#define CHANCE_ATTRIBUTES_H

#include "chance.h"

void attributes_begin(void);
void attributes_set(MPI_Comm comm);

/* How often they were copied and deleted. */
unsigned long attributes_end(void);

#endif
